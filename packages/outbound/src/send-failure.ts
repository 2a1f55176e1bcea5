import { isIPv4 } from 'node:net';
import type { ErrorClass, Forbidden, Unreachable } from './send-result.js';

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

const SAFE_CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** The `code` of an error of Node when it is a plain word, else `fallback`. */
export function codeOf(error: unknown, fallback: string): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && SAFE_CODE.test(code) ? code : fallback;
}

/** This machine's exhaustion: no endpoint's failure, so it is thrown. */
const OUR_FAULT = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

export function isOurFault(error: Error): boolean {
  const code = error instanceof SendFailure ? error.reasonCode : codeOf(error, '');
  return OUR_FAULT.has(code) || partsOf(error).some(ranOutOfPorts);
}

/** Node tells of several addresses that were tried as one error, with the code of the first. */
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

const CERTIFICATE_CODES =
  /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|INVALID_|HOSTNAME_MISMATCH|PATH_LENGTH_|ERROR_IN_CERT_|EPROTO$)/;

export function isTlsCode(code: string): boolean {
  return CERTIFICATE_CODES.test(code);
}

/** Of an error on the way to a connection that stands. */
export function toConnectFailure(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  const code = codeOf(error, 'CONNECT_FAILED');
  return new SendFailure(code === 'ETIMEDOUT' ? 'CONNECT_TIMEOUT' : 'CONNECT', code, error);
}

export function toFailedResult(error: Error, durationMs: number): Unreachable | Forbidden {
  if (!(error instanceof SendFailure)) {
    // Of a socket whose connection stood.
    const code = codeOf(error, 'UNKNOWN');
    return { kind: 'unreachable', error: isTlsCode(code) ? 'TLS' : 'SOCKET', code, durationMs };
  }
  const { errorClass, reasonCode } = error;
  if (errorClass !== 'ADDRESS_DENIED') {
    return { kind: 'unreachable', error: errorClass, code: reasonCode, durationMs };
  }
  return {
    kind: 'forbidden',
    error: 'ADDRESS_DENIED',
    code: 'ADDRESS_DENIED',
    reason: reasonCode,
    durationMs,
  };
}
