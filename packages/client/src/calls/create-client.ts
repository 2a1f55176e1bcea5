import { authorizeCalls, createTokenSource } from './token-source.js';
import type { ClientCredentials, TokenSource } from './token-source.js';
import { createCall, type CallOptions } from './call.js';
import { createEventCalls, type EventCalls } from './event-calls.js';
import { createPages, type Pages } from './pages.js';
import { createQueryCalls, type QueryCalls } from './query-calls.js';
import { createWebhookCalls, type WebhookCalls } from './webhook-calls.js';

export interface ClientOptions extends CallOptions {
  /** Base URL of the service, or of config-api when the services have addresses of their own. */
  readonly baseUrl: string;
  /** Base URL of ingest; default `baseUrl`. */
  readonly ingestUrl?: string;
  /** Base URL of query-api; default `baseUrl`. */
  readonly queryUrl?: string;
  /** What requests tokens of an issuer, or returns a token of another source. */
  readonly credentials: ClientCredentials | TokenSource;
}

/**
 * Typed calls of the service. Each throws `ProblemError` for an error response, and `ConnectionError` without a response. It throws
 * `UnexpectedResponseError` for a response that is not the operation's, and the reason of its signal.
 */
export interface Client extends WebhookCalls, EventCalls, QueryCalls, Pages {
  /** Returns a valid access token, for calls that this client does not have. */
  token: TokenSource;
}

/** Creates a client of the service. It requests the first token with the first call. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, ingestUrl = baseUrl, queryUrl = baseUrl, credentials } = options;
  const call = createCall(options);
  const tokens =
    typeof credentials === 'function'
      ? { token: credentials, forget: () => undefined }
      : createTokenSource(credentials, call);
  const query = authorizeCalls(call, tokens, queryUrl);
  const calls = {
    ...createWebhookCalls(authorizeCalls(call, tokens, baseUrl), query),
    ...createQueryCalls(query),
  };
  return {
    token: tokens.token,
    ...calls,
    ...createPages(calls),
    ...createEventCalls(authorizeCalls(call, tokens, ingestUrl)),
  };
}
