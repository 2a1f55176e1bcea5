/** Every problem (RFC 9457) that a service returns: the stable code, the HTTP status and the title. */
export const PROBLEMS = {
  'invalid-token': { status: 401, title: 'The access token is missing or not valid' },
  'insufficient-scope': { status: 403, title: 'The access token lacks the scope' },
  'forbidden-tenant': { status: 403, title: 'The access token is not for this tenant' },
  'invalid-request': { status: 422, title: 'The request is not valid' },
  'invalid-endpoint-url': { status: 422, title: 'The endpoint URL is not a public HTTPS URL' },
  'proof-failed': { status: 422, title: 'The endpoint did not pass its ownership challenge' },
  'webhook-already-registered': {
    status: 422,
    title: 'The ref, or this application, event type and URL, belongs to another webhook',
  },
  'webhook-not-registered': { status: 422, title: 'No such webhook is registered' },
  'webhook-ambiguous': { status: 422, title: 'Several webhooks match' },
  'webhook-disabled': { status: 422, title: 'The webhook is disabled' },
  'not-redeliverable': { status: 422, title: 'The delivery cannot be sent again' },
  'cursor-expired': { status: 422, title: 'The cursor has expired' },
  'limit-reached': { status: 422, title: 'The limit of the tenant is reached' },
  'no-event-accepted': { status: 422, title: 'None of the events was accepted' },
  'not-found': { status: 404, title: 'No such resource' },
  'method-not-allowed': { status: 405, title: 'The method is not allowed here' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'internal-error': { status: 500, title: 'The service failed' },
  'database-unavailable': { status: 500, title: 'The database is not available' },
  'keys-unavailable': { status: 500, title: 'The keys of the token issuer are not available' },
  unavailable: { status: 503, title: 'The service cannot do this now' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Returns the `type` of a problem: a URN, which need not resolve. */
export const problemType = (code: ProblemCode): string => `urn:webhooks:problem:${code}`;
