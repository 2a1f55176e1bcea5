/** An origin that would begin handshakes. */
export interface LaneUser {
  /** Begins what it still needs, if anything; called when a lane has become free. */
  open(): void;
}

/**
 * Lanes for TLS handshakes that all origins share: a burst to many endpoints would otherwise begin hundreds at once,
 * each a millisecond or two of CPU time, until all are late together. Every origin also has one lane of its own
 * (`OriginPool`), so that silent origins, which hold shared lanes for a whole connect time-out, stop nobody:
 * under way at once are at most `shared` + one for each origin with attempts waiting.
 */
export class HandshakeLanes {
  readonly #waiting = new Set<LaneUser>();
  #free: number;

  constructor(shared: number) {
    this.#free = shared;
  }

  /** False: there is none now; the user is asked to `open()` when its turn has come. */
  take(user: LaneUser): boolean {
    if (this.#free === 0) {
      this.#waiting.add(user);
      return false;
    }
    this.#free -= 1;
    return true;
  }

  /** The lane goes to whoever waits longest; who needs more than one queues up again behind the others. */
  give(): void {
    this.#free += 1;
    for (const user of this.#waiting) {
      if (this.#free === 0) return;
      this.#waiting.delete(user);
      user.open();
    }
  }
}
