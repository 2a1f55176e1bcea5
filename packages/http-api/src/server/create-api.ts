import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { Histogram, addCounter, type Logger, type Registry } from '@webhooks/runtime';
import express, { type NextFunction, type Request, type Response } from 'express';
import { AppError } from '../request/app-error.js';
import { createConcurrencyLimiter, refuseOpenBody, SharedBudget } from '../limits/shared-budget.js';
import type { Caller } from '../limits/shared-budget.js';
import { TENANT_ANY, identify, type Identity, type TenantOfClient } from '../token/identity.js';
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
  readonly tenantOf: TenantOfClient;
  readonly log: Logger;
  readonly registry: Registry;
  /** Aborted when the service shuts down. */
  readonly closing: AbortSignal;
  readonly limits: Pick<
    ApiSettings,
    'maxOpenRequests' | 'maxOpenBodyBytes' | 'tenantRequests' | 'exemptScope'
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
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** Returns the query: everything after the first `?`. */
function queryOf({ url }: Request): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at));
}

/**
 * Runs `work` with the body of a request. Its bytes are taken as they arrive and count against the budget until `work`
 * has ended. Throws 503 when they are not free, or when the declared length exceeds the free bytes.
 */
async function withBody<T>(
  request: Request,
  { maxBytes, budget, caller }: { maxBytes: number | undefined; budget: SharedBudget; caller: Caller },
  work: (body: Buffer) => Promise<T>,
): Promise<T> {
  if (maxBytes === undefined) {
    refuseBody(request);
    return work(Buffer.alloc(0));
  }
  checkBodyHeaders(request, maxBytes);
  if (Number(request.headers['content-length'] ?? 0) > budget.free) throw refuseOpenBody();
  let held = 0;
  const take = (bytes: number): void => {
    budget.take(caller, bytes);
    held += bytes;
  };
  try {
    return await work(await readBody(request, maxBytes, take));
  } finally {
    budget.release(caller, held);
  }
}

/** Reads everything of a request except its body. Throws 401 and 403. */
async function readHead(
  operation: Operation,
  request: Request,
  options: ApiOptions,
): Promise<Omit<ApiRequest, 'body' | 'requestId' | 'isOver'>> {
  const claims = await options.verifier.verify(request.headers.authorization);
  const identity = identify(claims, {
    scopes: operation.scopes,
    tenantHeader: request.get('tenantid'),
    tenantOf: options.tenantOf,
  });
  return {
    identity,
    params: Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, String(value)])),
    query: queryOf(request),
    header: (name) => request.get(name),
  };
}

const toAppError = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError('internal-error', 'the request could not be served', { cause: error });

/** Counts a request when its response has ended. The status is `client-closed` when the caller hung up before that. */
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
 * Creates a function that admits a request before its body is read. It throws 429 with `Retry-After`, or returns a
 * function to call when the request has ended. The cheapest check comes first: the tenant's rate, then the check of the
 * operation, then the free capacity.
 */
function createAdmission({ maxOpenRequests, tenantRequests, exemptScope }: ApiOptions['limits']) {
  const rate = createTenantLimiter({ limit: tenantRequests, counted: 'requests', exemptScope });
  const open = createConcurrencyLimiter({ total: maxOpenRequests, exemptScope });
  return (operation: Operation, identity: Identity): (() => void) => {
    rate.take(identity, 1);
    operation.admit?.(identity);
    return open.enter(identity);
  };
}

/** Creates the state that all requests of one application share. */
function createShared(options: ApiOptions) {
  const { limits, registry, log } = options;
  const { maxOpenBodyBytes: total, exemptScope } = limits;
  return {
    ...options,
    meters: createMeters(registry),
    /** Bounds the bytes of the bodies of all open requests. */
    budget: new SharedBudget({ total, exemptScope, refuse: refuseOpenBody }),
    admit: createAdmission(limits),
    logShed: createShedLog(log, registry),
    logRefusedToken: createRefusedTokenLog(log),
    logFault: createFaultLog(log),
  };
}

type Shared = ReturnType<typeof createShared>;

/** Calls `done` when the response has ended. Until then the response is in memory; after `TRANSFER_MS` it is cut. */
function onResponseEnd(response: Response, done: () => void): void {
  if (response.closed) return done();
  const cut = setTimeout(() => response.destroy(), TRANSFER_MS);
  response.once('close', () => {
    clearTimeout(cut);
    done();
  });
}

/** Returns the method of the operation. HEAD is served as GET, and Node sends no body (RFC 9110 §9.3.2). */
const methodOf = ({ method }: Request): string => (method === 'HEAD' ? 'GET' : method);

/** Logs a call of an operator's person or tool, which acts for any tenant that it names. */
function logAnyTenant(identity: Identity, operation: string, response: Response, log: Logger): void {
  const { clientId, personId, tenantId, scopes } = identity;
  if (!scopes.has(TENANT_ANY)) return;
  const requestId = response.get('x-request-id');
  log.info('an operator acts for a tenant', { operation, requestId, clientId, personId, tenantId });
}

/** Creates a handler for all methods of one path. Other methods, including OPTIONS, get 405 with `Allow`. */
function createDispatcher(operations: readonly Operation[], shared: Shared) {
  const allow = operations
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
  return async (request: Request, response: Response): Promise<void> => {
    const operation = operations.find(({ method }) => method === methodOf(request));
    const label = `${operation?.method ?? 'other'} ${operations[0]?.path ?? ''}`;
    measure(label, response, shared);
    if (!operation)
      throw new AppError('method-not-allowed', `this path allows only ${allow}`, { headers: { allow } });
    const head = await readHead(operation, request, shared);
    logAnyTenant(head.identity, label, response, shared.log);
    const leave = shared.admit(operation, head.identity);
    try {
      if (head.query.size > 0) readQuery(head.query, operation.query ?? {});
      const requestId = String(response.get('x-request-id'));
      const { maxBodyBytes: maxBytes } = operation;
      const body = { maxBytes, budget: shared.budget, caller: head.identity };
      const reply = await withBody(request, body, (bytes) =>
        operation.handle({
          ...{ ...head, requestId, body: bytes },
          isOver: () => response.closed || shared.closing.aborted,
        }),
      );
      send(response, reply);
    } finally {
      onResponseEnd(response, leave);
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
 * Creates a listener that serves the operations with Express: token → scope and tenant → limits → query → body → work.
 * Every error is a problem (RFC 9457), without a stack and without text of a library.
 */
export function createApi(options: ApiOptions): RequestListener {
  const app = express();
  const shared = createShared(options);
  app.disable('x-powered-by').disable('etag').set('query parser', false).set('case sensitive routing', true);
  const self = ownerOf(options.operations[0]?.path ?? '');
  app.use((request, response, next) => {
    response.set('x-request-id', requestIdOf(request));
    refuseRepeatedHeaders(request);
    const owner = ownerOf(request.path);
    if (owner !== undefined && owner !== self)
      throw new AppError('not-found', `this path is served by ${owner}, not by this service`);
    next();
  });
  for (const [path, operations] of Map.groupBy(options.operations, (operation) => operation.path))
    app.all(path, createDispatcher(operations, shared));
  app.use(() => {
    throw new AppError('not-found', 'there is nothing at this path');
  });
  // Express recognises an error handler by its four parameters.
  app.use((fault: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (fault instanceof CallerGone) response.destroy();
    else respondToFault(fault, request, response, shared);
  });
  return (request, response) => {
    request.url = originForm(request.url ?? '');
    app(request, response);
  };
}
