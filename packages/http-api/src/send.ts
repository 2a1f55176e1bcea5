import { PROBLEMS, problemType } from '@webhooks/contracts';
import type { Request, Response } from 'express';
import type { AppError } from './app-error.js';
import type { ApiReply } from './operation.js';

/** Whether a body may still come, also of a GET: it must not be taken for the next request, and reading it to no end costs CPU time. */
const hasUnread = ({ complete, headers }: Request): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

/** By Node's own means: Express' `send` looks up types and freshness that are the same for all answers here. */
export function send(response: Response, { status, headers = {}, body }: ApiReply): void {
  response.statusCode = status;
  response.setHeader('cache-control', 'no-store');
  if (hasUnread(response.req)) response.setHeader('connection', 'close');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body === undefined) return void response.end();
  const text = JSON.stringify(body);
  response.setHeader('content-type', 'application/json; charset=utf-8');
  // Node tells it by itself, but not to HEAD.
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
}

interface ProblemContext {
  /** Path of the request, without its query, which may hold identifiers. */
  readonly instance: string;
  readonly correlationId: string;
}

/** The body of an error answer: RFC 9457 with `code`, `correlationId` and `violations`. */
export function renderProblem(
  error: AppError,
  { instance, correlationId }: ProblemContext,
): Record<string, unknown> {
  const { status, title } = PROBLEMS[error.code];
  return {
    type: problemType(error.code),
    title,
    status,
    detail: error.message,
    instance,
    code: error.code,
    correlationId,
    violations: error.violations,
    ...error.members,
  };
}

/** A problem (RFC 9457) as an answer. */
export function sendProblem(request: Request, response: Response, error: AppError): void {
  const context = { instance: request.path, correlationId: String(response.get('x-request-id')) };
  const body = renderProblem(error, context);
  response.set(error.headers).set('cache-control', 'no-store').status(Number(body['status']));
  if (hasUnread(request)) response.set('connection', 'close');
  response.type('application/problem+json').send(JSON.stringify(body));
}
