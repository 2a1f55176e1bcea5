import type { Connection } from '../connection.js';

/** An origin that has idle connections. */
export interface IdleOwner {
  /** Ends one that is idle. */
  closeIdle(connection: Connection): void;
}

/**
 * The idle connections of all origins, bounded: each holds a descriptor and the buffers of TLS, and a bound for each
 * origin alone allows a quarter of a million of them. Above it the one that has been idle longest is ended, so that
 * many quiet origins cost a busy one no handshake.
 */
export class IdleConnections {
  readonly #max: number;
  /** Longest idle first. */
  readonly #idle = new Map<Connection, IdleOwner>();

  constructor(max: number) {
    this.#max = max;
  }

  add(connection: Connection, owner: IdleOwner): void {
    this.#idle.set(connection, owner);
    if (this.#idle.size > this.#max) this.#endLongest();
  }

  /** It is in use again, or gone. */
  remove(connection: Connection): void {
    this.#idle.delete(connection);
  }

  #endLongest(): void {
    for (const [connection, owner] of this.#idle) {
      this.#idle.delete(connection);
      return owner.closeIdle(connection);
    }
  }
}
