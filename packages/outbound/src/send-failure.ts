import { isIPv4 } from 'node:net';
import type { ErrorClass, SendResult } from './pool/exchange.js';

/**
 * A failure reported by this package's connector and connections. `code` is fixed, because undici and Node give some
 * codes a meaning; the code for results is `reasonCode`. The message contains no URL.
 */
export class SendFailure extends Error {
  readonly code = 'SEND_FAILURE';
  readonly errorClass: ErrorClass;
  readonly reasonCode: string;

  constructor(errorClass: ErrorClass, reasonCode: string, cause?: unknown) {
    super(`${errorClass}: ${reasonCode}`, { cause });
    this.errorClass = errorClass;
    this.reasonCode = reasonCode;
  }
}

/**
 * Codes that may be shown to integrators. Some codes of OpenSSL contain a slash, such as
 * `SSL/TLS_ALERT_CLOSE_NOTIFY`.
 */
const SAFE_CODE = /^[A-Z][A-Z0-9_/]{1,63}$/;

/** Returns the `code` of a Node error when it is a plain word, else `fallback`. */
export function codeOf(error: unknown, fallback: string): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && SAFE_CODE.test(code) ? code : fallback;
}

/** Reason code: no name server responds to any query, so the fault is on this side. */
export const NAME_SERVERS_UNREACHABLE = 'NAME_SERVERS_UNREACHABLE';
/** Reason code: the egress proxy does not respond, or refuses its use. */
export const EGRESS_PROXY = 'EGRESS_PROXY';

/**
 * Faults on this side: this machine's resources or network, or a request that cannot be sent. They are thrown and do
 * not count as the endpoint's failure.
 */
const LOCAL_FAULTS = new Set([
  ...[NAME_SERVERS_UNREACHABLE, EGRESS_PROXY],
  ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'],
  ...['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'],
]);

/** Whether the error is a fault of this machine or of the request, and not the endpoint's failure. */
export function isLocalFault(error: Error): boolean {
  const code = error instanceof SendFailure ? error.reasonCode : codeOf(error, '');
  return LOCAL_FAULTS.has(code) || causesOf(error).some(ranOutOfPorts);
}

/** Returns the errors of all tried addresses. Node combines them into one error with the code of the first. */
function causesOf(error: Error): readonly unknown[] {
  const cause = error instanceof SendFailure ? error.cause : error;
  const several = typeof cause === 'object' && cause !== null && 'errors' in cause ? cause.errors : undefined;
  return Array.isArray(several) ? several : [cause];
}

/**
 * Whether this machine ran out of ports. `EADDRNOTAVAIL` for an IPv4 address means that its ports to that address
 * are used up. For an IPv6 address it means that this machine has no IPv6, as in many containers. Then the endpoint
 * is unreachable from here, and waiting does not help.
 */
function ranOutOfPorts(error: unknown): boolean {
  if (codeOf(error, '') !== 'EADDRNOTAVAIL') return false;
  const address = typeof error === 'object' && error !== null && 'address' in error ? error.address : '';
  return isIPv4(String(address));
}

/** Codes of the operating system, such as `ECONNRESET`. Of OpenSSL's codes only `EPROTO` looks like one. */
const SYSTEM_CODE = /^(?:UNKNOWN|(?!EPROTO$)E[A-Z0-9]+)$/;

/**
 * Returns the class of an error on a TLS connection whose TCP connection was open: `network` for codes of the
 * operating system, otherwise TLS.
 */
export function classOf(code: string, network: 'CONNECT' | 'SOCKET'): 'CONNECT' | 'SOCKET' | 'TLS' {
  return SYSTEM_CODE.test(code) ? network : 'TLS';
}

/**
 * Whether the error states a reason, so that the request is not repeated: a protocol fault, or an alert about the
 * client certificate. In TLS 1.3 that alert arrives after the request was sent.
 */
export const hasReason = (error: Error): boolean =>
  error instanceof SendFailure
    ? error.errorClass === 'PROTOCOL'
    : codeOf(error, '').startsWith('TLS_CLIENT_');

/** undici's errors for a malformed response. */
const PROTOCOL_FAULTS = new Map([
  ['HTTPParserError', 'NOT_HTTP'],
  ['HeadersOverflowError', 'HEADERS_TOO_LONG'],
  ['ResponseContentLengthMismatchError', 'BAD_LENGTH'],
]);

/** undici reports an unrequested response as a `SocketError` that only its message identifies. */
const protocolFault = ({ name, message }: Error): string | undefined =>
  message.startsWith('bad ') ? 'UNEXPECTED_RESPONSE' : PROTOCOL_FAULTS.get(name);

/**
 * Converts an error that ended a request before the status of its response. System and TLS errors are returned
 * unchanged.
 */
export function toResponseFailure(error: Error): Error {
  if (error instanceof SendFailure) return error;
  const fault = protocolFault(error);
  // Without a cause, because the cause may contain bytes that the endpoint sent.
  if (fault !== undefined) return new SendFailure('PROTOCOL', fault);
  const code = codeOf(error, '');
  const isClosed = code.startsWith('UND_ERR_') && !LOCAL_FAULTS.has(code);
  return isClosed ? new SendFailure('SOCKET', 'OTHER_SIDE_CLOSED', error) : error;
}

/** Converts an error that ended the opening of a connection. */
export function toConnectFailure(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  const code = codeOf(error, 'CONNECT_FAILED');
  return new SendFailure(code === 'ETIMEDOUT' ? 'CONNECT_TIMEOUT' : 'CONNECT', code, error);
}

/** Converts a failure into the result of a post. */
export function toFailedResult(error: Error, durationMs: number): SendResult {
  if (!(error instanceof SendFailure)) {
    // A socket error of an open connection.
    const code = codeOf(error, 'UNKNOWN');
    return { kind: 'unreachable', error: classOf(code, 'SOCKET'), code, durationMs };
  }
  const { errorClass, reasonCode } = error;
  if (errorClass === 'ADDRESS_DENIED')
    return { kind: 'forbidden', error: errorClass, code: errorClass, reason: reasonCode, durationMs };
  return { kind: 'unreachable', error: errorClass, code: reasonCode, durationMs };
}
