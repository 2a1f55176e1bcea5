import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import type { TLSSocket } from 'node:tls';
import { Node } from 'yallist';
import type { Idle } from './idle-connections.js';

export interface ConnectionLimits {
  /** An idle connection is closed after this time, default 4,000 ms, unless the endpoint names another one in `Keep-Alive`. */
  readonly keepAliveMs: number;
  /** What an endpoint's `Keep-Alive: timeout=` may ask for at most, default 15,000 ms; at least `keepAliveMs`. */
  readonly keepAliveMaxMs: number;
  /** Bytes of the answer's header block. */
  readonly headerLimitBytes: number;
}

const nothing = (): void => undefined;

/** The connection had ended before anything of the request was written: the attempt may take another connection. */
export class ConnectionGone extends Error {
  readonly code = 'CONNECTION_GONE';

  constructor() {
    super('the connection ended before the request was written');
  }
}

/** undici's client over exactly this socket: it never connects by itself. Once, `onGone` is called at the socket's end. */
export class Connection extends Client {
  /** Among those of its origin. */
  readonly place = new Node<Connection>(this);
  /** Among the idle ones of all origins. */
  idlePlace: Node<Idle> | undefined = undefined;
  readonly #socket: TLSSocket;

  constructor(
    url: URL,
    socket: TLSSocket,
    limits: ConnectionLimits,
    onGone: (connection: Connection) => void,
  ) {
    let given = false;
    super(url, {
      connect: (_options, callback) => {
        const gone = given || socket.destroyed;
        given = true;
        // Not at once: undici would miss a call back from within its own call.
        process.nextTick(() => (gone ? callback(new ConnectionGone(), null) : callback(null, socket)));
      },
      pipelining: 1,
      allowH2: false,
      // The attempt's own deadline covers both; undici's timers would cost two more for each request.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: limits.headerLimitBytes,
      keepAliveTimeout: limits.keepAliveMs,
      keepAliveMaxTimeout: Math.max(limits.keepAliveMs, limits.keepAliveMaxMs),
    });
    this.#socket = socket;
    this.once('disconnect', () => onGone(this));
  }

  /** Ends it now. The socket by name, because undici knows of it only after it took up a first request. */
  discard(): void {
    this.destroy(nothing);
    this.#socket.destroy();
  }
}

/**
 * Gives a connection without a request its socket now, so that the end of the socket and its idle time are noticed:
 * undici takes a connection up for a request only, and drops one whose handler throws here without touching it.
 */
export function attach(connection: Connection): void {
  connection.dispatch({ method: 'POST', path: '/' }, ATTACHING);
}

/** All of a handler's functions, because undici refuses one without them. */
const ATTACHING: Dispatcher.DispatchHandler = {
  onRequestStart: () => {
    throw new Error('nothing is to be sent');
  },
  onResponseStart: nothing,
  onResponseData: nothing,
  onResponseEnd: nothing,
  onResponseError: nothing,
};
