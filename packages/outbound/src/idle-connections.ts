import { Node, Yallist } from 'yallist';
import type { Connection } from './connection.js';

/** An origin that has idle connections. */
export interface IdleOwner {
  /** Ends one that is idle. */
  closeIdle(connection: Connection): void;
}

/** A connection and the one origin that it belongs to. */
export interface Idle {
  readonly connection: Connection;
  readonly owner: IdleOwner;
}

/**
 * The idle connections of all origins, bounded: each holds a descriptor and the buffers of TLS, and a bound for each
 * origin alone allows a quarter of a million of them. Above it the one that has been idle longest is ended, so that
 * many quiet origins cost a busy one no handshake.
 */
export class IdleConnections {
  readonly #max: number;
  /** Longest idle first. */
  readonly #idle = new Yallist<Idle>();

  constructor(max: number) {
    this.#max = max;
  }

  add(connection: Connection, owner: IdleOwner): void {
    connection.idlePlace ??= new Node<Idle>({ connection, owner });
    this.#idle.pushNode(connection.idlePlace);
    if (this.#idle.length > this.#max) this.#endLongest();
  }

  /** It is in use again, or gone. */
  remove(connection: Connection): void {
    const { idlePlace } = connection;
    if (idlePlace?.list !== undefined) this.#idle.removeNode(idlePlace);
  }

  #endLongest(): void {
    const { head } = this.#idle;
    if (head === undefined) return;
    this.#idle.removeNode(head);
    head.value.owner.closeIdle(head.value.connection);
  }
}
