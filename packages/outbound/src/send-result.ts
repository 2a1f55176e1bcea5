/** Why no answer came. Stable words: they are stored with attempts and shown to integrators. */
export const ERROR_CLASSES = [
  'DNS',
  'CONNECT',
  'CONNECT_TIMEOUT',
  'TLS',
  'SOCKET',
  'TIMEOUT',
  'PROTOCOL',
  'ADDRESS_DENIED',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/**
 * The final status line and headers came: the status decides, whatever becomes of the body after them
 * (it is not used). `cut` says that the body was longer than the limit, broke off,
 * or was still coming at the deadline.
 */
export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  /** The text of `Retry-After`, at most 64 characters, not yet parsed. */
  readonly retryAfter?: string;
  /** The text of `keptHeader`, at most 64 characters. */
  readonly kept?: string;
  readonly cut: boolean;
  readonly durationMs: number;
}

/** No answer: a fault on the way or at the endpoint. Retryable. `code` is a short word such as `ECONNREFUSED`. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly error: Exclude<ErrorClass, 'ADDRESS_DENIED'>;
  readonly code: string;
  readonly durationMs: number;
}

/** The name leads to an address that must never be connected to; nothing was sent. `reason` is for our own log only. */
export interface Forbidden {
  readonly kind: 'forbidden';
  readonly error: 'ADDRESS_DENIED';
  readonly code: 'ADDRESS_DENIED';
  readonly reason: string;
  readonly durationMs: number;
}

/** Nothing was sent: when there was a connection the caller did not want it any more. */
export interface Withdrawn {
  readonly kind: 'withdrawn';
  readonly durationMs: number;
}

/** Nothing was sent: it needed a new connection, and those of its tenant rested for what they cost us in CPU time. */
export interface Throttled {
  readonly kind: 'throttled';
  readonly durationMs: number;
}

export type SendResult = Answered | Unreachable | Forbidden | Withdrawn | Throttled;
