import type { Lane } from './lane.js';
import type { Patience } from './patience.js';
import type { Room } from './room.js';

/** From here on what does not move leaves room to others. */
const CROWDED_SHARE = 0.5;
/** Between two sweeps there was a pause of ours; for as long after it what has been answered may not have been read yet. */
const PAUSE_MS = 100;
/** An end at another endpoint within this says that it is not us who are late. */
const LATELY_MS = 50;

/** Whose queue holds a crowded room without moving, although it is not our fault that it does not. */
export class QuietRule {
  #sweptAt = 0;
  #pausedAt = -Infinity;
  #last: { readonly lane: Lane; readonly at: number } | undefined;
  /** The last end at another endpoint than that of the last one. */
  #otherAt = -Infinity;

  /** An attempt has ended there. */
  ended(lane: Lane, now: number): void {
    if (this.#last && this.#last.lane !== lane) this.#otherAt = this.#last.at;
    this.#last = { lane, at: now };
  }

  /** To be called about each 50 ms: when it is not, we had a pause. */
  swept(now: number): void {
    if (now - this.#sweptAt > PAUSE_MS) this.#pausedAt = now;
    this.#sweptAt = now;
  }

  /**
   * How many of an endpoint's queued first attempts are too many, because it has ended no attempt for long since the oldest
   * of them came, and the room is more than half full: the sources of all live topics stop when it is full. Negative as long
   * as one more may queue.
   */
  excess(lane: Lane, now: number, patience: Patience, room: Room): number {
    if (room.freeShare >= CROWDED_SHARE || now - this.#pausedAt < PAUSE_MS) return -Infinity;
    lane.isQuiet ||= this.#isQuiet(lane, now, patience);
    return lane.isQuiet ? lane.live.length - room.quietShare(lane.live.length) : -Infinity;
  }

  #isQuiet(lane: Lane, now: number, { quietMs, longQuietMs }: Patience): boolean {
    const oldest = lane.live.peekFront();
    if (!oldest) return false;
    const leastMs = lane.hasAnswered && !this.#othersEnd(lane, now) ? longQuietMs : quietMs;
    const patienceMs = Math.min(Math.max(lane.quietMs, leastMs), longQuietMs);
    return lane.stillFor(now, oldest.since) > patienceMs;
  }

  #othersEnd(lane: Lane, now: number): boolean {
    const at = this.#last?.lane === lane ? this.#otherAt : (this.#last?.at ?? -Infinity);
    return now - at <= LATELY_MS;
  }
}
