import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { PROBLEMS } from '@webhooks/contracts';
import { AppError, createFaultLog, originForm, sendProblem } from '@webhooks/http-api';
import type { Logger } from '@webhooks/runtime';
import compression from 'compression';
import express, { Router } from 'express';
import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { checkCall, createApiProxy, isOperator, PAGE_AUTHORIZATION } from './api-proxy.js';
import type { ConsoleConfig } from '../config.js';
import type { Issuer, Session } from './issuer.js';
import { createSessions, type Sessions } from './sessions.js';
import { createSignIn } from './sign-in.js';

/** Largest body of a call: that of an alert endpoint, with its address, has 3 KiB. */
const MAX_BODY_BYTES = 16_384;

/** Nothing but our own files is loaded and run, and no other page frames them (CSP Level 3). */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src'].map((kind) => `${kind} 'self'`),
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The name of a built file changes with its content. */
const ASSETS: Parameters<typeof express.static>[1] = {
  index: false,
  fallthrough: false,
  setHeaders: (response) => response.setHeader('cache-control', 'public, max-age=31536000, immutable'),
};

/** Throws 403 for a call that no page of this origin made. */
function checkOrigin(request: Request, _response: Response, next: NextFunction): void {
  if (
    request.get('sec-fetch-site') !== 'same-origin' ||
    !PAGE_AUTHORIZATION.test(request.get('authorization') ?? '')
  )
    throw new AppError('insufficient-scope', 'only the pages of this console may call it');
  next();
}

interface ConsoleOptions {
  readonly config: ConsoleConfig;
  readonly issuer: Issuer;
  readonly log: Logger;
  /** Folder of the built pages. */
  readonly webDir: string;
}

/** The calls of the pages: who is signed in, and what the services serve. */
function createCalls({ config, issuer }: ConsoleOptions, sessions: Sessions): Router {
  const passOn = createApiProxy(config);
  const router = Router();
  /** Throws 401 without a session. */
  const sessionOf = (request: Request): Session => {
    const session = sessions.find(request);
    if (!session) throw new AppError('invalid-token', 'nobody is signed in');
    return session;
  };
  /** Returns a valid token. A session whose token cannot be renewed ends. */
  const tokenOf = async (request: Request, response: Response): Promise<string> =>
    issuer.tokenOf(sessionOf(request)).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'invalid-token') sessions.end(request, response);
      throw error;
    });
  router.use(checkOrigin);
  router.get('/session', async (request, response) => {
    await tokenOf(request, response);
    const session = sessionOf(request);
    const { personId, tenant } = session.claims;
    response.json({ personId, tenantId: tenant, isOperator: isOperator(session) });
  });
  router.use(express.raw({ limit: MAX_BODY_BYTES, type: () => true }), async (request, response) => {
    const token = await tokenOf(request, response);
    // Found after that, because a renewed token may have other rights.
    const session = sessionOf(request);
    checkCall(request, session);
    await passOn(request, response, session, token);
  });
  return router;
}

/** What a person is told of a fault. A library's own 4xx is the caller's mistake. */
function toAppError(fault: unknown): AppError {
  if (fault instanceof AppError) return fault;
  const { status } = Object(fault) as { readonly status?: number };
  if (status === 404) return new AppError('not-found', 'there is nothing at this path');
  if (status !== undefined && status < 500)
    return new AppError('invalid-request', 'the request cannot be read', { cause: fault });
  return new AppError('internal-error', 'the request could not be served', { cause: fault });
}

/** A path for the log: ids of payments do not belong there. */
const withoutIds = (path: string): string =>
  path.replaceAll(/(cob\/|notifications\/).*|[\w-]{16,}/g, '$1:id');

/** Sends faults as problems (RFC 9457), and logs those of the console and its services. */
function createFaultHandler({ log, webDir }: ConsoleOptions): ErrorRequestHandler {
  const logFault = createFaultLog(log);
  // Express knows a handler of faults by its four parameters.
  return (fault: unknown, request, response, _next) => {
    // The page has left, or the service broke off in the middle: the browser notices by the connection.
    if (response.headersSent || response.closed) return void response.destroy();
    const error = toAppError(fault);
    logFault(error, { path: withoutIds(request.path) }, response);
    // A person reads a page; the pages read a problem.
    if (request.path.startsWith('/auth/')) sendPages(response.status(PROBLEMS[error.code].status), webDir);
    else sendProblem(request, response, error);
  };
}

/** Sends the pages, which show what belongs to their address. */
const sendPages = (response: Response, root: string): void =>
  response.sendFile('index.html', { root, cacheControl: false });

/** Creates the listener of the console: sign-in, the calls of the pages, and the pages. */
export function createConsole(options: ConsoleOptions): RequestListener {
  const { config, issuer, webDir } = options;
  const sessions = createSessions();
  const app = express()
    .disable('x-powered-by')
    .set('query parser', false)
    .set('case sensitive routing', true);
  app.use((request, response, next) => {
    response.set(HEADERS).set('x-request-id', randomUUID());
    // A name that an attacker chose must reach neither a cache nor a redirect (RFC 9110 §15.5.20).
    if (request.get('host') === config.publicUrl.host) next();
    else response.status(421).end();
  });
  app.use('/auth', createSignIn(issuer, sessions));
  app.use('/api', createCalls(options, sessions));
  app.use('/assets', compression(), express.static(join(webDir, 'assets'), ASSETS));
  app.get(/.*/, (_request, response) => sendPages(response, webDir));
  app.use(() => {
    throw new AppError('not-found', 'there is nothing at this path');
  });
  app.use(createFaultHandler(options));
  return (request, response) => {
    request.url = originForm(request.url ?? '/');
    app(request, response);
  };
}
