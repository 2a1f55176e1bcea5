import { isIPv4 } from 'node:net';
import type { ErrorClass, SendResult } from './pool/exchange.js';

/**
 * What our own connector and connections report. Its `code` is fixed, because some TLS codes have a meaning of their own;
 * the code for the outside is `reasonCode`. The message never holds a URL.
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

/** Codes that may be shown. OpenSSL has some such as `SSL/TLS_ALERT_CLOSE_NOTIFY`. */
const SAFE_CODE = /^[A-Z][A-Z0-9_/]{1,63}$/;

/** The `code` of an error of Node when it is a plain word, else `fallback`. */
export function codeOf(error: unknown, fallback: string): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && SAFE_CODE.test(code) ? code : fallback;
}

/** No name server answers any query, so the fault is ours. */
export const NAME_SERVERS_UNREACHABLE = 'NAME_SERVERS_UNREACHABLE';

/** This machine's exhaustion, its network, or a request that cannot be sent: no endpoint's failure, so it is thrown. */
const OUR_FAULT = new Set([
  NAME_SERVERS_UNREACHABLE,
  ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'],
  ...['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'],
]);

export function isOurFault(error: Error): boolean {
  const code = error instanceof SendFailure ? error.reasonCode : codeOf(error, '');
  return OUR_FAULT.has(code) || partsOf(error).some(ranOutOfPorts);
}

/** Node reports failures at several addresses as one error, with the code of the first. */
function partsOf(error: Error): readonly unknown[] {
  const cause = error instanceof SendFailure ? error.cause : error;
  const several = typeof cause === 'object' && cause !== null && 'errors' in cause ? cause.errors : undefined;
  return Array.isArray(several) ? several : [cause];
}

/**
 * `EADDRNOTAVAIL` for an address of IPv4 says that our ports to it are used up. For one of IPv6 it says that this
 * machine has no IPv6, as many containers: the endpoint cannot be reached from here, and waiting changes nothing.
 */
function ranOutOfPorts(error: unknown): boolean {
  if (codeOf(error, '') !== 'EADDRNOTAVAIL') return false;
  const address = typeof error === 'object' && error !== null && 'address' in error ? error.address : '';
  return isIPv4(String(address));
}

/** Codes of the system, such as `ECONNRESET`. OpenSSL's begin differently, except `EPROTO`. */
const SYSTEM_CODE = /^(?:UNKNOWN|(?!EPROTO$)E[A-Z0-9]+)$/;

/** The class of an error on a TLS connection whose TCP connection was open: `network`, or TLS for codes not of the system. */
export function classOf(code: string, network: 'CONNECT' | 'SOCKET'): 'CONNECT' | 'SOCKET' | 'TLS' {
  return SYSTEM_CODE.test(code) ? network : 'TLS';
}

/** Whether the error is an alert about our certificate, which in TLS 1.3 comes after the request was sent, or a fault of protocol. */
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

/** undici's `SocketError` shows only by its message that the endpoint sent an unrequested response. */
const protocolFault = ({ name, message }: Error): string | undefined =>
  message.startsWith('bad ') ? 'UNEXPECTED_RESPONSE' : PROTOCOL_FAULTS.get(name);

/** Converts an error that ended a request before the status of its response. Errors of the system and of TLS stay as they are. */
export function toResponseFailure(error: Error): Error {
  if (error instanceof SendFailure) return error;
  const fault = protocolFault(error);
  // Without a cause, because that may hold what the endpoint sent.
  if (fault !== undefined) return new SendFailure('PROTOCOL', fault);
  const code = codeOf(error, '');
  const isClosed = code.startsWith('UND_ERR_') && !OUR_FAULT.has(code);
  return isClosed ? new SendFailure('SOCKET', 'OTHER_SIDE_CLOSED', error) : error;
}

/** Converts an error that ended the opening of a connection. */
export function toConnectFailure(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  const code = codeOf(error, 'CONNECT_FAILED');
  return new SendFailure(code === 'ETIMEDOUT' ? 'CONNECT_TIMEOUT' : 'CONNECT', code, error);
}

export function toFailedResult(error: Error, durationMs: number): SendResult {
  if (!(error instanceof SendFailure)) {
    // An error of an open connection's socket.
    const code = codeOf(error, 'UNKNOWN');
    return { kind: 'unreachable', error: classOf(code, 'SOCKET'), code, durationMs };
  }
  const { errorClass, reasonCode } = error;
  if (errorClass === 'ADDRESS_DENIED')
    return { kind: 'forbidden', error: errorClass, code: errorClass, reason: reasonCode, durationMs };
  return { kind: 'unreachable', error: errorClass, code: reasonCode, durationMs };
}
