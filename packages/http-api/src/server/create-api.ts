import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { Histogram, addCounter, type Logger, type Registry } from '@webhooks/runtime';
import express, { type NextFunction, type Request, type Response } from 'express';
import { AppError } from '../request/app-error.js';
import { createBodyBudget, type BodyBudget, type Caller, createOpenRequests } from '../limits/shares.js';
import { identify, type Identity, type TenantRule } from '../token/identity.js';
import type { ApiRequest, Operation } from '../request/operation.js';
import { TRANSFER_MS } from './listen.js';
import { createFaultLog, createRefusedTokenLog, send, sendProblem } from './send.js';
import { originForm, ownerOf } from '../request/request-target.js';
import {
  CallerGone,
  checkBodyHeaders,
  readBody,
  refuseBody,
  refuseRepeatedHeaders,
} from '../request/read-body.js';
import { readQuery } from '../request/read-query.js';
import type { ApiSettings } from './api-settings.js';
import { createShedLog } from '../limits/shed.js';
import { createTenantLimiter } from '../limits/tenant-limiter.js';
import type { TokenVerifier } from '../token/token-verifier.js';

export interface ApiOptions {
  readonly operations: readonly Operation[];
  readonly verifier: TokenVerifier;
  readonly tenantRule: TenantRule;
  readonly log: Logger;
  readonly registry: Registry;
  /** Aborted when the service ends. */
  readonly closing: AbortSignal;
  readonly limits: Pick<
    ApiSettings,
    'maxOpenRequests' | 'maxOpenBodyBytes' | 'tenantRequests' | 'uncountedScope'
  >;
}

const REQUESTS = 'Requests, by operation and status';

const createMeters = (registry: Registry) => ({
  requests: addCounter(registry, 'http_requests_total', REQUESTS, 'operation', 'status'),
  seconds: new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the response',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  }),
});

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

function requestIdOf({ headers }: Request): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

/** The query is everything after the first `?`; it may hold further ones. */
function queryOf({ url }: Request): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at));
}

/** Runs `work` with the body of a request, which counts in the budget until `work` has ended. */
async function withBody<T>(
  request: Request,
  { maxBytes, budget, caller }: { maxBytes: number | undefined; budget: BodyBudget; caller: Caller },
  work: (body: Buffer) => Promise<T>,
): Promise<T> {
  if (maxBytes === undefined) {
    refuseBody(request);
    return work(Buffer.alloc(0));
  }
  checkBodyHeaders(request, maxBytes);
  const share = budget.open(caller, Number(request.headers['content-length'] ?? 0));
  try {
    return await work(await readBody(request, maxBytes, share.take));
  } finally {
    share.release();
  }
}

/** Everything about a request but its body. Throws 401 and 403. */
async function readHead(
  operation: Operation,
  request: Request,
  options: ApiOptions,
): Promise<Omit<ApiRequest, 'body' | 'requestId' | 'signal'>> {
  const claims = await options.verifier.verify(request.headers.authorization);
  const identity = identify(claims, {
    scopes: operation.scopes,
    tenantHeader: single(request.headers['tenantid']),
    rule: options.tenantRule,
  });
  return {
    identity,
    params: Object.fromEntries(
      Object.entries(request.params).map(([name, value]) => [name, single(value) ?? '']),
    ),
    query: queryOf(request),
    header: (name) => single(request.headers[name]),
  };
}

const toAppError = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError('internal-error', 'the request could not be served', { cause: error });

/** Counts a request when its response has ended. A caller that did not wait for it has the status `client-closed`. */
function measure(label: string, response: Response, { log, meters }: Shared): void {
  const stop = meters.seconds.startTimer({ operation: label });
  response.once('close', () => {
    stop();
    const hungUp = !response.writableFinished && response.errored === null;
    const status = hungUp ? 'client-closed' : String(response.statusCode);
    meters.requests.inc({ operation: label, status });
    if (hungUp)
      log.debug('the caller hung up', { operation: label, requestId: response.get('x-request-id') });
  });
}

/**
 * Admits a request before its body is read. Call the returned function when the request has ended. Throws 429 with `Retry-After`.
 * The cheapest check comes first: the tenant's rate, then the operation's own check, then the free capacity.
 */
function createAdmission({ maxOpenRequests, tenantRequests, uncountedScope }: ApiOptions['limits']) {
  const rate = createTenantLimiter({ limit: tenantRequests, counted: 'requests', uncountedScope });
  const open = createOpenRequests({ total: maxOpenRequests, uncountedScope });
  return (operation: Operation, identity: Identity): (() => void) => {
    rate.take(identity, 1);
    operation.admit?.(identity);
    return open.enter(identity);
  };
}

/** What the requests of one application share. */
function share(options: ApiOptions) {
  const { limits, registry, log } = options;
  return {
    ...options,
    meters: createMeters(registry),
    budget: createBodyBudget(limits.maxOpenBodyBytes, limits.uncountedScope),
    admit: createAdmission(limits),
    logShed: createShedLog(log, registry),
    logRefusedToken: createRefusedTokenLog(log),
    logFault: createFaultLog(log),
  };
}

type Shared = ReturnType<typeof share>;

/** Calls `done` when the response has ended. Until then it is in memory, even when nobody reads it. */
function whenRead(response: Response, done: () => void): void {
  if (response.closed) return done();
  const cut = setTimeout(() => response.destroy(), TRANSFER_MS);
  response.once('close', () => {
    clearTimeout(cut);
    done();
  });
}

function endOf(response: Response, { closing }: ApiOptions): AbortSignal {
  const ended = new AbortController();
  const end = (): void => {
    closing.removeEventListener('abort', end);
    ended.abort();
  };
  // Not `AbortSignal.any`: of each signal joined to one that lives for ever, Node 24 keeps 400 bytes.
  closing.addEventListener('abort', end);
  response.once('close', end);
  if (closing.aborted || response.closed) end();
  return ended.signal;
}

/** The method whose operation responds. HEAD is a GET of which Node sends no body (RFC 9110 §9.3.2). */
const methodOf = ({ method }: Request): string => (method === 'HEAD' ? 'GET' : method);

/** Serves the methods of one path. Every other method is 405 with `Allow`, OPTIONS too. */
function dispatcher(operations: readonly Operation[], shared: Shared) {
  const allow = operations
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
  return async (request: Request, response: Response): Promise<void> => {
    const operation = operations.find(({ method }) => method === methodOf(request));
    const label = `${operation?.method ?? 'other'} ${operations[0]?.path ?? ''}`;
    measure(label, response, shared);
    if (!operation)
      throw new AppError('method-not-allowed', `there is only ${allow} here`, { headers: { allow } });
    const head = await readHead(operation, request, shared);
    const leave = shared.admit(operation, head.identity);
    try {
      if (head.query.size > 0) readQuery(head.query, operation.query ?? {});
      const requestId = String(response.get('x-request-id'));
      const { maxBodyBytes: maxBytes } = operation;
      const body = { maxBytes, budget: shared.budget, caller: head.identity };
      const reply = await withBody(request, body, (bytes) =>
        operation.handle({
          ...{ ...head, requestId, body: bytes },
          // Made on first use: few operations wait.
          get signal() {
            return endOf(response, shared);
          },
        }),
      );
      send(response, reply);
    } finally {
      whenRead(response, leave);
    }
  };
}

function respondToFault(fault: unknown, request: Request, response: Response, shared: Shared): void {
  const error =
    fault instanceof URIError
      ? new AppError('not-found', 'there is nothing at this path')
      : toAppError(fault);
  if (error.shed) shared.logShed(error.shed);
  else if (error.code === 'invalid-token') shared.logRefusedToken(error);
  else shared.logFault(error, request, response);
  if (response.headersSent) response.destroy(error);
  else sendProblem(request, response, error);
}

/**
 * Serves requests with Express: token → scope and tenant → limits → query → body → work. Every error is a problem (RFC 9457), without a
 * stack or a library's text.
 */
export function createApi(options: ApiOptions): RequestListener {
  const app = express();
  const shared = share(options);
  app.disable('x-powered-by').disable('etag').set('query parser', false).set('case sensitive routing', true);
  app.use((request, response, next) => {
    response.set('x-request-id', requestIdOf(request));
    refuseRepeatedHeaders(request);
    next();
  });
  const self = ownerOf(options.operations[0]?.path ?? '');
  app.use((request, _response, next) => {
    const owner = ownerOf(request.path);
    if (owner !== undefined && owner !== self)
      throw new AppError('not-found', `this address belongs to ${owner}`);
    next();
  });
  for (const [path, operations] of Map.groupBy(options.operations, (operation) => operation.path))
    app.all(path, dispatcher(operations, shared));
  app.use(() => {
    throw new AppError('not-found', 'there is nothing at this path');
  });
  // Express knows an error handler by its four parameters.
  app.use((fault: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (fault instanceof CallerGone) response.destroy();
    else respondToFault(fault, request, response, shared);
  });
  return (request, response) => {
    request.url = originForm(request.url ?? '');
    app(request, response);
  };
}
