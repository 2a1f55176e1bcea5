import { isObject } from '@webhooks/testkit';
import { checkExchange } from './openapi-check.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; an empty object when there was none. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface CallOptions {
  readonly method: string;
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>> | string;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls of one tenant; each request and answer is checked against `openapi.yaml`. */
export interface Caller {
  readonly tenantId: string;
  call(options: CallOptions): Promise<Answer>;
  post(body: unknown): Promise<Answer>;
  put(body: unknown): Promise<Answer>;
  list(query?: CallOptions['query']): Promise<Answer>;
  get(ref: string): Promise<Answer>;
  rotate(ref: string, body?: unknown): Promise<Answer>;
  remove(ref: string): Promise<Answer>;
  policy(ref: string): Promise<Answer>;
  putPolicy(ref: string, body: unknown): Promise<Answer>;
  removePolicy(ref: string): Promise<Answer>;
  changes(ref: string): Promise<Answer>;
  postAlert(body: unknown): Promise<Answer>;
  listAlerts(): Promise<Answer>;
  endAlert(ref: string): Promise<Answer>;
}

export const WEBHOOKS = '/integration/v1/webhooks';
export const ALERTS = '/integration/v1/alert-endpoints';

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const encode = (body: unknown): string | Uint8Array<ArrayBuffer> => {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
};

function requestOf(authorization: string | undefined, { method, body, headers }: CallOptions): RequestInit {
  const sent = body === undefined ? undefined : encode(body);
  return {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  };
}

async function exchange(
  url: string,
  authorization: string | undefined,
  options: CallOptions,
): Promise<Answer> {
  const { method, path = WEBHOOKS } = options;
  const query = new URLSearchParams(options.query ?? '');
  const target = query.size === 0 ? `${url}${path}` : `${url}${path}?${query.toString()}`;
  const request = requestOf(authorization, options);
  const response = await fetch(target, request);
  const text = await response.text();
  // The document describes production, where `localhost` is no host of an endpoint.
  const { body = '' } = request;
  const sent =
    typeof body === 'string' ? parsed(body.replace('//localhost:', '//localhost.psp.br:')) : undefined;
  const { status, headers } = response;
  checkExchange({ method, path, query, sent, status, headers, text });
  const answer = parsed(text);
  return { status, headers, body: isObject(answer) ? answer : {}, text };
}

/** `authorization` is the whole header, undefined to send none. */
export function createCaller(url: string, tenantId: string, authorization: string | undefined): Caller {
  const call = (options: CallOptions): Promise<Answer> => exchange(url, authorization, options);
  return {
    tenantId,
    call,
    post: (body) => call({ method: 'POST', body }),
    put: (body) => call({ method: 'PUT', body }),
    list: (query = '') => call({ method: 'GET', query }),
    get: (ref) => call({ method: 'GET', path: `${WEBHOOKS}/${ref}` }),
    rotate: (ref, body) => call({ method: 'POST', path: `${WEBHOOKS}/${ref}/secret`, body }),
    remove: (ref) => call({ method: 'DELETE', path: `${WEBHOOKS}/${ref}/secret` }),
    policy: (ref) => call({ method: 'GET', path: `${WEBHOOKS}/${ref}/policy` }),
    putPolicy: (ref, body) => call({ method: 'PUT', path: `${WEBHOOKS}/${ref}/policy`, body }),
    removePolicy: (ref) => call({ method: 'DELETE', path: `${WEBHOOKS}/${ref}/policy` }),
    changes: (ref) => call({ method: 'GET', path: `${WEBHOOKS}/${ref}/changes` }),
    postAlert: (body) => call({ method: 'POST', path: ALERTS, body }),
    listAlerts: () => call({ method: 'GET', path: ALERTS }),
    endAlert: (ref) => call({ method: 'DELETE', path: `${ALERTS}/${ref}` }),
  };
}

/** The violations of a refusal, each in one line. */
export const reasonsOf = ({ body }: Answer): readonly string[] =>
  (body['violations'] as { property: string; reason: string }[]).map(
    ({ property, reason }) => `${property} ${reason}`,
  );
