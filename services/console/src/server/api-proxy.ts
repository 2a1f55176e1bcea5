import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, ownerOf, TENANT_ANY } from '@webhooks/http-api';
import type { Request, Response } from 'express';
import type { ConsoleConfig } from '../config.js';
import type { Session } from './issuer.js';

/** Longest wait for a service, milliseconds: query-api responds within 5 s when its database is away. */
const SERVICE_MS = 20_000;

const API = '/integration/v1/';
const ID = String.raw`[\w-]{1,64}`;
const allow = (...paths: readonly string[]): RegExp => new RegExp(`^${API}(${paths.join('|')})$`);

/** What the pages call. Events are posted by payment systems, never by a browser. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  GET: allow(
    ...['alert-endpoints', 'pix/transactions?', `pix/cob/${ID}`, `notifications/${ID}`, `statements/${ID}`],
    ...['webhooks(/overview)?', `webhooks/deliveries(/${ID})?`, 'webhooks/redeliveries'],
    `webhooks/${ID}(/(health|changes|policy))?`,
  ),
  POST: allow(
    ...['alert-endpoints', 'webhooks/(deliveries|redeliveries)', `webhooks/deliveries/${ID}/redeliver`],
    ...[`webhooks/redeliveries/${ID}/cancel`, `webhooks/${ID}/(secret|test)`],
  ),
  PUT: allow('webhooks'),
  DELETE: allow(`alert-endpoints/${ID}`),
};

/** The header that the pages send with every call, with the tenant that they show. No form and no other site can send it. */
export const PAGE_AUTHORIZATION = /^Bearer console(?::([\w.:@-]{1,128}))?$/;

/** Headers that are passed on, in each direction. The access token and the tenant of an operator are added. */
const REQUEST_HEADERS = ['accept', 'content-type'];
const RESPONSE_HEADERS = ['content-type', 'retry-after', 'x-request-id'];

/** Whether this person acts for any tenant, and so may only read. */
export const isOperator = ({ claims }: Session): boolean => claims.scopes.has(TENANT_ANY);

const tenantNamedBy = (request: Request): string | undefined =>
  PAGE_AUTHORIZATION.exec(request.get('authorization') ?? '')?.[1];

/** Throws 404 for a call that no page makes, and 403 for a change by an operator and for a page of another tenant. */
export function checkCall(request: Request, session: Session): void {
  const { method, path } = request;
  if (!ALLOWED[method]?.test(path)) throw new AppError('not-found', 'the console has no such call');
  if (!isOperator(session) && tenantNamedBy(request) !== session.claims.tenant)
    throw new AppError('insufficient-scope', 'somebody of another tenant has signed in: reload this page');
  if (method !== 'GET' && isOperator(session))
    throw new AppError('insufficient-scope', 'an operator reads only: a change needs a person of the tenant');
}

function headersFor(request: Request, response: Response, session: Session, token: string): Headers {
  const headers = new Headers({
    authorization: `Bearer ${token}`,
    'x-request-id': String(response.get('x-request-id')),
  });
  const tenantId = tenantNamedBy(request);
  if (isOperator(session) && tenantId !== undefined) headers.set('tenantid', tenantId);
  for (const name of REQUEST_HEADERS) {
    const value = request.get(name);
    if (value !== undefined) headers.set(name, value);
  }
  return headers;
}

/** Creates a function that passes a checked call on to the service that owns its path, with the token of the session. */
export function createApiProxy({ configApi, queryApi }: ConsoleConfig) {
  const bases: Readonly<Record<string, string>> = { 'config-api': configApi, 'query-api': queryApi };
  /** Never another host, whatever the request names: only path and query come from it. */
  const targetOf = ({ path, url }: Request): URL => {
    const target = new URL(bases[ownerOf(path) ?? ''] ?? '');
    target.pathname = path;
    target.search = /\?.*$/.exec(url)?.[0] ?? '';
    return target;
  };
  return async (request: Request, response: Response, session: Session, token: string): Promise<void> => {
    const left = new AbortController();
    response.once('close', () => left.abort());
    const body: unknown = request.body;
    const service = await fetch(targetOf(request), {
      method: request.method,
      headers: headersFor(request, response, session, token),
      redirect: 'manual',
      signal: AbortSignal.any([left.signal, AbortSignal.timeout(SERVICE_MS)]),
      ...(request.method !== 'GET' && Buffer.isBuffer(body) && { body: new Uint8Array(body) }),
    }).catch((cause: unknown) => {
      throw new AppError('unavailable', 'the service cannot be reached now; try again', { cause });
    });
    // A new sign-in would give the same token.
    if (service.status === 401)
      throw new AppError('unavailable', 'the service refuses the tokens that this console accepts');
    response.status(service.status);
    for (const name of RESPONSE_HEADERS) {
      const value = service.headers.get(name);
      if (value !== null) response.set(name, value);
    }
    await pipeline(service.body === null ? Readable.from([]) : Readable.fromWeb(service.body), response);
  };
}
