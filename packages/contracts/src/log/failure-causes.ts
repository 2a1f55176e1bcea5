import { FAILURE_CAUSES_PT } from './failure-causes-pt.js';

const CHAIN = 'The chain is incomplete, or of no public authority: serve every intermediate certificate.';
const REFUSED = 'Your server refused our client certificate: look at its log, and trust our authority.';
const VERIFY = 'The endpoint refused it: check its secret and its clock, and that it verifies the raw body.';
const PATH = 'Nothing takes a POST at this path: check the URL of the webhook.';

/**
 * Cause and remedy of a failed attempt, for the operator of the endpoint. The keys are classes of failures, codes,
 * statuses, and hundreds of statuses (`4xx`). A code wins over its class. A code without an entry has the cause of its
 * class.
 */
export const FAILURE_CAUSES: ReadonlyMap<string, string> = new Map([
  [
    'DNS',
    'The host has no address or over 64, or its name server does not respond: check the name and its records.',
  ],
  ['CONNECT', 'The server cannot be reached: check its port, its firewall and its routes.'],
  ['ECONNREFUSED', 'Nothing listens on this port, or a firewall refuses us: start the server, let us in.'],
  ['ECONNRESET', 'The server, or a firewall, closed the connection before the response: look at their logs.'],
  ['CONNECT_TIMEOUT', 'No connection or handshake in time: check the firewall and the listen backlog.'],
  ['TLS', 'The TLS handshake failed: check the certificate, its chain, and that TLS 1.2 or 1.3 is enabled.'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'The response is not TLS: serve HTTPS on this port.'],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'The server speaks no HTTP/1.1: enable it beside HTTP/2.'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate is self-signed: use one of a public authority.'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'The certificate is of no public authority: use one of a public authority.'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', CHAIN],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', CHAIN],
  ['CERT_HAS_EXPIRED', 'The certificate has expired: renew it, and let the server load the new one.'],
  ['CERT_NOT_YET_VALID', 'The certificate is not valid yet: check the clock of whoever issued it.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate is for other hosts: use one for this host name.'],
  ['TLS_CLIENT_CERTIFICATE_REQUIRED', 'Your server demands a client certificate: agree on one with us.'],
  ['TLS_CLIENT_UNKNOWN_CA', 'Our client certificate is of an authority unknown to your server: trust it.'],
  ['TLS_CLIENT_CERTIFICATE_EXPIRED', 'The client certificate has expired: renew it, or check your clock.'],
  ['TLS_CLIENT_BAD_CERTIFICATE', REFUSED],
  ['TLS_CLIENT_CERTIFICATE_UNKNOWN', REFUSED],
  ['TLS_CLIENT_CERTIFICATE_REVOKED', REFUSED],
  ['TLS_CLIENT_UNSUPPORTED_CERTIFICATE', REFUSED],
  ['SOCKET', 'The connection broke before the response: look for crashes and idle time-outs of proxies.'],
  ['TIMEOUT', 'No response in time: store the event, respond with 2xx, and do the work afterwards.'],
  ['PROTOCOL', 'The response is not HTTP/1.1: check which server listens on this port.'],
  ['HEADERS_TOO_LONG', 'The headers of the response are longer than 16 KiB: send fewer.'],
  ['TLS_FLOOD', 'The server sent tickets, key updates or tiny TLS records without end: send whole records.'],
  ['ADDRESS_DENIED', 'The name leads to a private or otherwise forbidden address: use a public one.'],
  ['3xx', 'Redirects are never followed: register the URL that it leads to.'],
  ['400', `${VERIFY} nginx also sends 400 without a client certificate that it trusts.`],
  ['401', VERIFY],
  ['403', `${VERIFY} A firewall may also send 403.`],
  ['404', PATH],
  ['405', PATH],
  ['410', PATH],
  ['413', 'The endpoint takes no body of this size: raise its limit.'],
  ['429', 'The endpoint has too many requests: send Retry-After with the time to wait, or raise its limit.'],
  ['4xx', 'The endpoint refused the notification: look at its log.'],
  ['5xx', 'The endpoint, or a proxy before it, failed: look at its log at the time of the attempt.'],
]);

/** The result of an attempt. */
export interface Failure {
  readonly error?: string | undefined;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
}

/**
 * Returns the cause and a remedy in one sentence; undefined when there is none, as for an accepted attempt. Portuguese has
 * one wherever English has one.
 */
export function causeOf(
  { error = '', code = '', status }: Failure,
  language: 'en' | 'pt' = 'en',
): string | undefined {
  const causes = language === 'pt' ? FAILURE_CAUSES_PT : FAILURE_CAUSES;
  return status === undefined
    ? (causes.get(code) ?? causes.get(error))
    : (causes.get(String(status)) ?? causes.get(`${String(status).slice(0, 1)}xx`));
}
