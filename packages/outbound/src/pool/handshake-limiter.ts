/** A pool that would begin handshakes. */
export interface HandshakeUser {
  /** Begins what it still needs, if anything; called when a handshake of another pool has ended. */
  open(): void;
}

/**
 * Bounds the TLS handshakes that all origins have under way: a burst to many endpoints would otherwise begin hundreds at once, each
 * a millisecond or two of CPU time, until all are late together. Every origin has one besides (`OriginPool`), so that silent
 * origins, which take a whole connect time-out, stop nobody: under way at once are at most `shared` + one for each origin.
 */
export class HandshakeLimiter {
  readonly #waiting = new Set<HandshakeUser>();
  #free: number;

  constructor(shared: number) {
    this.#free = shared;
  }

  /** False: there is none now; the user is asked to `open()` when its turn has come. */
  acquire(user: HandshakeUser): boolean {
    if (this.#free === 0) {
      this.#waiting.add(user);
      return false;
    }
    this.#free -= 1;
    return true;
  }

  /** It goes to whoever waits longest; who needs more than one queues up again behind the others. */
  release(): void {
    this.#free += 1;
    for (const user of this.#waiting) {
      if (this.#free === 0) return;
      this.#waiting.delete(user);
      user.open();
    }
  }
}
