import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import { FinalStatus } from './final-status.js';
import type { SecuredSocket } from '../guard/handshake-budget.js';
import { hasReason, SendFailure, toResponseFailure } from '../send-failure.js';

export interface ConnectionLimits {
  /**
   * An idle connection closes after this time, milliseconds, unless the endpoint's `Keep-Alive` sets another;
   * default 4,000.
   */
  readonly keepAliveMs: number;
  /**
   * Longest time that an endpoint's `Keep-Alive: timeout=` may set, milliseconds; default 15,000, minimum
   * `keepAliveMs`.
   */
  readonly keepAliveMaxMs: number;
}

/** The parts of a final response that a result uses. */
export interface ResponseHead {
  readonly status: number;
  /** The first `Retry-After`, not parsed. */
  readonly retryAfter: string | undefined;
  /** The first value of `keptHeader`. */
  readonly kept: string | undefined;
}

/** How a response ended after its status line. */
export interface ResponseEnd {
  /** Whether the body is incomplete. */
  readonly cut: boolean;
  /** Whether the connection can carry another request. */
  readonly reusable: boolean;
}

/** One request, with callbacks for its end. Exactly one of them is called, once. */
export interface Exchange {
  readonly path: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Name of a response header to return, in lower case. */
  readonly keptHeader: string | undefined;
  onResponse(head: ResponseHead, end: ResponseEnd): void;
  /**
   * The exchange ended without a status: by a partial response, an alert about the client certificate, or a close
   * from this side.
   */
  fail(error: Error): void;
  /** The connection ended, without a stated reason, before the first byte of the response. */
  onSilentEnd(error: Error): void;
}

/** An idle connection is closed this much earlier than the endpoint would close it, milliseconds. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** Most bytes of the response's header block: Node's own bound. */
const HEADER_LIMIT_BYTES = 16_384;
/** Bytes of the response's body that are read and discarded: one read of a socket. Beyond it the connection is closed. */
const BODY_LIMIT_BYTES = 65_536;
/** TLS bytes that an endpoint may send in one attempt: tickets, the headers of 370 records, or 200 key updates (5 ms). */
const TLS_BYTES = 8_192;

/**
 * HTTP/1.1 over one open TLS connection, one exchange at a time. Its undici `Client` cannot open another connection.
 */
export class Connection {
  /** When the connection was opened, by `performance.now()`. */
  readonly openedAt = performance.now();
  readonly #socket: SecuredSocket;
  readonly #finalStatus: FinalStatus;
  readonly #client: Client;
  readonly #onGone: (connection: Connection) => void;
  #exchange: Exchange | undefined = undefined;
  #head: ResponseHead | undefined = undefined;
  /** Whether the connection can carry no further request. */
  isGone = false;
  readonly #unused: NodeJS.Timeout;

  /** `onGone` is called once, when the connection can carry no further request. */
  constructor(
    origin: string,
    socket: SecuredSocket,
    limits: ConnectionLimits,
    onGone: (connection: Connection) => void,
  ) {
    this.#socket = socket;
    const onRead = (): void => socket.tenant.budget.readCpu();
    this.#finalStatus = new FinalStatus(socket.tls, onRead);
    this.#onGone = onGone;
    let isTaken = false;
    this.#client = new Client(origin, {
      connect: (_options, callback) => {
        const again = isTaken ? new SendFailure('SOCKET', 'CONNECTION_CLOSED') : undefined;
        isTaken = true;
        // The client expects the callback after this function has returned.
        queueMicrotask(() => (again ? callback(again, null) : callback(null, socket.tls)));
      },
      allowH2: false,
      keepAliveTimeout: limits.keepAliveMs,
      keepAliveMaxTimeout: Math.max(limits.keepAliveMs, limits.keepAliveMaxMs),
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: HEADER_LIMIT_BYTES,
      maxResponseSize: BODY_LIMIT_BYTES,
      // The attempt has its own deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    socket.tls.once('close', () => this.discard());
    // undici has no deadline for a socket before its first request.
    this.#unused = setTimeout(() => this.discard(), limits.keepAliveMs).unref();
  }

  /** Sends a request. No other exchange may be in progress. */
  post(exchange: Exchange): void {
    clearTimeout(this.#unused);
    this.#exchange = exchange;
    this.#head = undefined;
    this.#socket.allow(TLS_BYTES);
    this.#finalStatus.expect();
    const { path, headers, body } = exchange;
    const request = { method: 'POST', path, headers: headers as string[], body } as const;
    this.#client.dispatch(request, this.#handlerOf(exchange));
  }

  /** Closes the connection now. Its exchange fails with this failure, unless the response's status has arrived. */
  fail(failure: SendFailure): void {
    if (this.#exchange !== undefined) this.#fail(this.#exchange, failure, true);
  }

  /** Closes the connection now. */
  discard(): void {
    if (this.isGone) return;
    this.isGone = true;
    clearTimeout(this.#unused);
    this.#socket.tls.destroy();
    this.#onGone(this);
  }

  #handlerOf(exchange: Exchange): Dispatcher.DispatchHandler {
    return {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status, headers) => {
        const retryAfter = firstOf(headers['retry-after']);
        this.#head = { status, retryAfter, kept: firstOf(headers[exchange.keptHeader ?? '']) };
      },
      onResponseData: () => undefined,
      // Deferred, so that bytes after the response, or the end of the connection, are read first.
      onResponseEnd: () => queueMicrotask(() => this.#end(exchange)),
      onResponseError: (_controller, error) => this.#fail(exchange, toResponseFailure(error), false),
    };
  }

  #end(exchange: Exchange): void {
    const head = this.#take(exchange);
    this.#socket.endIfFlooded(0);
    if (head !== undefined) exchange.onResponse(head, { cut: false, reusable: this.#socket.tls.writable });
  }

  #fail(exchange: Exchange, error: Error, hasBegun: boolean): void {
    if (this.#exchange !== exchange) return;
    const head = this.#take(exchange) ?? this.#refusedHead(error);
    this.discard();
    if (head !== undefined) exchange.onResponse(head, { cut: true, reusable: false });
    else if (hasBegun || this.#finalStatus.hasBegun || hasReason(error)) exchange.fail(error);
    else exchange.onSilentEnd(error);
  }

  /**
   * The head of a response that undici refused, when its status is known. The status is valid whatever else is wrong
   * (RFC 9110 §15).
   */
  #refusedHead(error: Error): ResponseHead | undefined {
    const { status } = this.#finalStatus;
    const isRefused = error instanceof SendFailure && error.errorClass === 'PROTOCOL';
    return isRefused && status !== undefined ? { status, retryAfter: undefined, kept: undefined } : undefined;
  }

  /** Removes the exchange from the connection. Returns the head of its response, if it arrived. */
  #take(exchange: Exchange): ResponseHead | undefined {
    if (this.#exchange !== exchange) return undefined;
    this.#exchange = undefined;
    return this.#head;
  }
}

const firstOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;
