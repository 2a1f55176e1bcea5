/** What a failure means for whoever runs the receiver, and what helps. */
type Cause = readonly [cause: string, fix: string];

/** By the failure class of the delivery log. `guides/en/failures.md` says more. */
const CLASSES: Readonly<Record<string, Cause>> = {
  DNS: ['the host name has no address', 'check the name and its DNS records'],
  CONNECT: ['nothing accepts connections there', 'check that the receiver runs, and its firewall'],
  CONNECT_TIMEOUT: ['no connection within 3 s', 'check the firewall and the address'],
  TLS: ['the TLS handshake failed', 'check certificate, chain and TLS version (webhooks doctor URL)'],
  SOCKET: ['the connection broke before a response', 'check the receiver and the proxy before it'],
  TIMEOUT: ['no response within 10 s', 'store the event, respond, and do the work afterwards'],
  PROTOCOL: ['what came back is no HTTP response', 'check the port: is it the right service?'],
  ADDRESS_DENIED: ['the name leads to a private address', 'use a public one'],
};

const STATUSES: readonly (readonly [pattern: RegExp, cause: Cause])[] = [
  [/^3/, ['redirects are not followed', 'register the address that it leads to']],
  [/^(400|401|403|422)$/, ['the receiver refused it', 'check that it has the right secret and the raw body']],
  [/^(404|405)$/, ['nothing takes a POST at this path', 'check the address of the webhook']],
  [/^(429|503)$/, ['the receiver is busy', 'say Retry-After, and it is respected up to an hour']],
  [/^5/, ['the receiver failed', 'look at its log']],
];

/** Undefined for a delivery that arrived. */
export function causeOfFailure(error: string | undefined, status: number | undefined): Cause | undefined {
  if (error !== undefined) return CLASSES[error];
  return STATUSES.find(([pattern]) => pattern.test(String(status)))?.[1];
}
