import { PROBLEMS, problemType, readTraceparent, traceIdOf } from '@webhooks/contracts';
import type { Request, Response } from 'express';
import type { AppError } from '../request/app-error.js';
import type { ApiReply } from '../request/operation.js';
import { createLogThrottles, errorFields, type Logger } from '@webhooks/runtime';
import type { RefusedToken } from '../token/token-faults.js';

/**
 * Whether a part of the body is unread, also of a GET. It must not be read as the next request; reading it costs CPU
 * time.
 */
const hasUnread = ({ complete, headers }: Request): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

/**
 * Sends a response without Express' `send`, which looks up types and freshness; both are the same for all responses.
 */
export function send(
  response: Response,
  { status, headers = {}, body }: ApiReply,
  type = 'application/json',
): void {
  response.statusCode = status;
  response.setHeader('cache-control', 'no-store');
  if (hasUnread(response.req)) response.setHeader('connection', 'close');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body === undefined) return void response.end();
  const text = Buffer.isBuffer(body) ? body : JSON.stringify(body);
  response.setHeader('content-type', `${type}; charset=utf-8`);
  // Set here, because Node sets it for all methods except HEAD.
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
}

/** Sends a problem (RFC 9457) with `code`, `correlationId` and `violations`. */
export function sendProblem(request: Request, response: Response, error: AppError): void {
  const { code, headers, violations, members } = error;
  const { status, title } = PROBLEMS[code];
  const body = {
    type: problemType(code),
    title,
    status,
    detail: error.message,
    // Without the query, which may contain identifiers.
    instance: request.path,
    code,
    correlationId: String(response.get('x-request-id')),
    violations,
    ...members,
  };
  send(response, { status, headers, body }, 'application/problem+json');
}

/**
 * Logs faults of the service, at most one line in 10 s for each code and kind of cause: while a dependency is down, every
 * request has one.
 */
export function createFaultLog(log: Logger) {
  const throttle = createLogThrottles();
  return (error: AppError, request: Pick<Request, 'path'>, response: Response): void => {
    if (!error.code.endsWith('error') && !error.code.endsWith('unavailable')) return;
    throttle(`${error.code} ${error.cause instanceof Error ? error.cause.name : ''}`, (requests) =>
      log.error('requests failed', {
        ...{ requests, requestId: response.get('x-request-id') },
        traceId: traceIdOf(readTraceparent(response.req.get('traceparent'))),
        path: request.path,
        code: error.code,
        ...(error.cause === undefined ? { reason: error.message } : errorFields(error.cause)),
      }),
    );
  };
}

/** Logs refused tokens (401), at most one line in 10 s for each fault. */
export function createRefusedTokenLog(log: Logger): (error: AppError) => void {
  const throttle = createLogThrottles();
  return ({ message, cause }) => {
    const { clientId: latestClientId, advice } = Object(cause) as RefusedToken;
    throttle(message, (requests) =>
      log.warn('access tokens are refused', { fault: message, requests, latestClientId, advice }),
    );
  };
}
