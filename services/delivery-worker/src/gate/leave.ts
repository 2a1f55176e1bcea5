import type { Lane } from './lane.js';

/** Of the 15 s that a leave may take, what an attempt of 10 s leaves. */
const TRIAL_MS = 4_500;

/** Who is still attempted while the worker leaves. */
export class Leave {
  #since: number | undefined;

  begin(now: number): void {
    this.#since ??= now;
  }

  /** Whoever does not end its attempts within `fastMs`. What nobody knows yet is tried once, early enough to be waited for. */
  passesOver(lane: Lane, now: number, fastMs: number): boolean {
    if (this.#since === undefined || lane.isFast(now, fastMs)) return false;
    return !lane.isUntried || now - this.#since > TRIAL_MS;
  }
}
