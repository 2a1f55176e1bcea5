/** A longer handshake counts as this; milliseconds. */
const LONG_HANDSHAKE_MS = 1_000;

/**
 * How long an attempt waits for a used connection before another one is opened for it: as long as the newest handshake took,
 * while used ones come free within that time, because what makes answers late (this machine is busy, say) makes handshakes
 * late, too. Where none comes free the endpoint takes its time, and a new connection is all there is. Times are milliseconds
 * of a clock that never goes back.
 */
export class UsedConnectionWait {
  readonly #leastMs: number;
  #handshakeMs = 0;
  #freeAt = -Infinity;

  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  handshakeTook(ms: number): void {
    this.#handshakeMs = Math.min(ms, LONG_HANDSHAKE_MS);
  }

  cameFree(now: number): void {
    this.#freeAt = now;
  }

  waitMs(now: number): number {
    const comeFree = now - this.#freeAt <= this.#handshakeMs;
    return comeFree ? Math.max(this.#leastMs, this.#handshakeMs) : this.#leastMs;
  }
}
