import type { AxiosRequestConfig } from 'axios';
import { createCall } from './call.js';
import type { CallOptions } from './call.js';
import { ProblemError } from './problem-error.js';
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
  readonly credentials: ClientCredentials;
}

/** Typed calls of the service. Each throws `ProblemError` for an error answer and axios's error when none came. */
export interface Client {
  /** A valid access token, for calls of one's own. */
  token: TokenSource;
  register(webhook: WebhookInput): Promise<Webhook>;
  update(webhook: WebhookInput): Promise<Webhook>;
  list(filter?: WebhookFilter): Promise<WebhookList>;
  get(ref: string): Promise<Webhook>;
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

/** Answers are trusted to follow the service's own OpenAPI document; they are not validated again here. */
const asWebhook = (body: unknown): Webhook => body as Webhook;
const asList = (body: unknown): WebhookList => body as WebhookList;
const asSecret = (body: unknown): WebhookSecret => body as WebhookSecret;
const asAccepted = (body: unknown): { readonly id: string } => body as { readonly id: string };

const withoutUndefined = (filter: WebhookFilter): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

const resultsOf = (body: unknown): readonly EventResult[] =>
  (body as { readonly results: readonly EventResult[] }).results;

interface AuthorizedRequest extends Pick<
  AxiosRequestConfig,
  'baseURL' | 'method' | 'url' | 'data' | 'params'
> {
  readonly contentType?: string;
}

export function createClient(options: ClientOptions): Client {
  const call = createCall(options);
  const token = createTokenSource(options.credentials, call);
  const authorized = async ({ contentType, ...request }: AuthorizedRequest): Promise<unknown> => {
    const authorization = `Bearer ${await token()}`;
    const headers =
      contentType === undefined ? { authorization } : { authorization, 'content-type': contentType };
    return (await call({ ...request, headers })).data;
  };
  const config = (request: AuthorizedRequest) => authorized({ baseURL: options.baseUrl, ...request });
  const ingest = (data: unknown, contentType = 'application/json') =>
    authorized({
      baseURL: options.ingestUrl ?? options.baseUrl,
      method: 'POST',
      url: EVENTS,
      data,
      contentType,
    });
  const postBatch = async (
    data: unknown,
    contentType = 'application/json',
  ): Promise<readonly EventResult[]> => {
    try {
      return resultsOf(await ingest(data, contentType));
    } catch (error) {
      if (error instanceof ProblemError && 'results' in error.problem.members) {
        return resultsOf(error.problem.members);
      }
      throw error;
    }
  };
  const secretUrl = (ref: string): string => `${WEBHOOKS}/${encodeURIComponent(ref)}/secret`;
  return {
    token,
    register: async (data) => asWebhook(await config({ method: 'POST', url: WEBHOOKS, data })),
    update: async (data) => asWebhook(await config({ method: 'PUT', url: WEBHOOKS, data })),
    list: async (filter = {}) =>
      asList(await config({ method: 'GET', url: WEBHOOKS, params: withoutUndefined(filter) })),
    get: async (ref) =>
      asWebhook(await config({ method: 'GET', url: `${WEBHOOKS}/${encodeURIComponent(ref)}` })),
    rotateSecret: async (ref) => asSecret(await config({ method: 'POST', url: secretUrl(ref) })),
    removeSecret: async (ref) => {
      await config({ method: 'DELETE', url: secretUrl(ref) });
    },
    postEvent: async (event) => asAccepted(await ingest(event)).id,
    postEvents: (events) => postBatch(events),
    postEventLines: (lines) => postBatch(lines, 'application/x-ndjson'),
  };
}
