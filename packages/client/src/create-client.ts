import { createCall } from './call.js';
import type { CallOptions, CallRequest } from './call.js';
import {
  parseAcceptedId,
  parseList,
  parseNothing,
  parseResults,
  parseSecret,
  parseWebhook,
} from './parse-answer.js';
import type { ParseAnswer } from './parse-answer.js';
import { ProblemError } from './problem-error.js';
import { createQueryCalls } from './query-calls.js';
import type { QueryCall, QueryCalls } from './query-calls.js';
import { createTokenSource } from './token-source.js';
import type { ClientCredentials, TokenSource } from './token-source.js';
import type {
  EventInput,
  EventResult,
  Webhook,
  WebhookFilter,
  WebhookInput,
  WebhookList,
  WebhookSecret,
} from './types.js';

export interface ClientOptions extends CallOptions {
  /** Base URL of the service, or of config-api when the services have addresses of their own. */
  readonly baseUrl: string;
  /** Base URL of ingest; default `baseUrl`. */
  readonly ingestUrl?: string;
  /** Base URL of query-api; default `baseUrl`. */
  readonly queryUrl?: string;
  readonly credentials: ClientCredentials;
}

/**
 * Typed calls of the service. Each throws `ProblemError` for an error answer, `ConnectionError` when none came, and
 * `UnexpectedAnswerError` for an answer that is not the operation's.
 */
export interface Client extends QueryCalls {
  /** A valid access token, for calls of one's own. */
  token: TokenSource;
  register(webhook: WebhookInput): Promise<Webhook>;
  update(webhook: WebhookInput): Promise<Webhook>;
  list(filter?: WebhookFilter): Promise<WebhookList>;
  get(ref: string): Promise<Webhook>;
  /**
   * Sent once, whatever `maxRetries` says. After a lost answer it can be sent again: three secrets are valid, each for its own
   * 24 h. Many repeats would end the one that the receiver has.
   */
  rotateSecret(ref: string): Promise<WebhookSecret>;
  removeSecret(ref: string): Promise<void>;
  /** Resolves with the event's id once it is durable. */
  postEvent(event: EventInput): Promise<string>;
  /** At most 1,000 events and 1 MiB; the result of each, also when none was accepted. */
  postEvents(events: readonly EventInput[]): Promise<readonly EventResult[]>;
  /** The same for NDJSON text, one event a line, sent as it is; empty lines do not count. */
  postEventLines(lines: string): Promise<readonly EventResult[]>;
}

const WEBHOOKS = '/integration/v1/webhooks';
const EVENTS = '/integration/v1/events';

/** Every configuration call answers 200; an event is durable only with 202. */
const CONFIGURED = [200];
const DURABLE = [202];
/** 202: durable, not in force yet. */
const REMOVED = [202, 204];

const withoutUndefined = (filter: WebhookFilter): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

interface AuthorizedRequest<T> extends Omit<CallRequest<T>, 'headers' | 'auth'> {
  readonly contentType?: string;
}

type PostBody = <T>(parse: ParseAnswer<T>, data: unknown, contentType?: string) => Promise<T>;

/** A batch of which nothing was accepted is a problem that holds the same list. */
async function postBatch(
  post: PostBody,
  data: unknown,
  contentType?: string,
): Promise<readonly EventResult[]> {
  try {
    return await post(parseResults, data, contentType);
  } catch (error) {
    const results = error instanceof ProblemError ? parseResults(error.problem.members) : undefined;
    if (results === undefined) throw error;
    return results;
  }
}

const oneUrl = (ref: string): string => `${WEBHOOKS}/${encodeURIComponent(ref)}`;

export function createClient(options: ClientOptions): Client {
  const call = createCall(options);
  const token = createTokenSource(options.credentials, call);
  const authorized = async <T>({ contentType, ...request }: AuthorizedRequest<T>): Promise<T> => {
    const authorization = `Bearer ${await token()}`;
    const headers =
      contentType === undefined ? { authorization } : { authorization, 'content-type': contentType };
    return call({ ...request, headers });
  };
  const config = <T>(request: Omit<AuthorizedRequest<T>, 'statuses'>, statuses = CONFIGURED) =>
    authorized({ baseURL: options.baseUrl, statuses, ...request });
  const ingest: PostBody = (parse, data, contentType = 'application/json') =>
    authorized({
      baseURL: options.ingestUrl ?? options.baseUrl,
      ...{ method: 'POST', url: EVENTS, statuses: DURABLE, parse, data, contentType },
    });
  const query: QueryCall = (request, statuses = CONFIGURED) => {
    const contentType = request.data === undefined ? {} : { contentType: 'application/json' };
    return authorized({ baseURL: options.queryUrl ?? options.baseUrl, statuses, ...contentType, ...request });
  };
  return {
    ...createQueryCalls(query),
    token,
    register: (data) => config({ method: 'POST', url: WEBHOOKS, data, parse: parseWebhook }),
    update: (data) => config({ method: 'PUT', url: WEBHOOKS, data, parse: parseWebhook }),
    list: (filter = {}) =>
      config({ method: 'GET', url: WEBHOOKS, params: withoutUndefined(filter), parse: parseList }),
    get: (ref) => config({ method: 'GET', url: oneUrl(ref), parse: parseWebhook }),
    rotateSecret: (ref) =>
      config({ method: 'POST', url: `${oneUrl(ref)}/secret`, parse: parseSecret, repeatable: false }),
    removeSecret: async (ref) => {
      await config({ method: 'DELETE', url: `${oneUrl(ref)}/secret`, parse: parseNothing }, REMOVED);
    },
    postEvent: (event) => ingest(parseAcceptedId, event),
    postEvents: (events) => postBatch(ingest, events),
    postEventLines: (lines) => postBatch(ingest, lines, 'application/x-ndjson'),
  };
}
