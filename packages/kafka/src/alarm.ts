/** It never sleeps longer, so that a changed clock is noticed. */
const MAX_SLEEP_MS = 30_000;

/** One moment to wake up at; setting another one replaces it. */
export class Alarm {
  readonly #now: () => number;
  readonly #ring: () => void;
  #set: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined;

  /** `ring` is called at the moment set, of `now` (milliseconds), or half a minute after it was set: then look again. */
  constructor(now: () => number, ring: () => void) {
    this.#now = now;
    this.#ring = ring;
  }

  /** Infinity is never. */
  set(at: number): void {
    if (this.#set?.at === at) return;
    this.clear();
    if (at === Infinity) return;
    const sleepMs = Math.min(Math.max(at - this.#now(), 1), MAX_SLEEP_MS);
    const timer = setTimeout(() => {
      this.#set = undefined;
      this.#ring();
    }, sleepMs);
    this.#set = { at, timer };
  }

  clear(): void {
    clearTimeout(this.#set?.timer);
    this.#set = undefined;
  }
}
