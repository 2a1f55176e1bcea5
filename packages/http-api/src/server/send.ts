import { PROBLEMS, problemType } from '@webhooks/contracts';
import type { Request, Response } from 'express';
import type { AppError } from '../request/app-error.js';
import type { ApiReply } from '../request/operation.js';

/** Whether a body may still come, also of a GET: it must not be taken for the next request, and reading it to no end costs CPU time. */
const hasUnread = ({ complete, headers }: Request): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

/** By Node's own means: Express' `send` looks up types and freshness that are the same for all answers here. */
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
  // Node tells it by itself, but not to HEAD.
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
}

/** A problem (RFC 9457) as an answer, with `code`, `correlationId` and `violations`. */
export function sendProblem(request: Request, response: Response, error: AppError): void {
  const { code, headers, violations, members } = error;
  const { status, title } = PROBLEMS[code];
  const body = {
    type: problemType(code),
    title,
    status,
    detail: error.message,
    // Without its query, which may hold identifiers.
    instance: request.path,
    code,
    correlationId: String(response.get('x-request-id')),
    violations,
    ...members,
  };
  send(response, { status, headers, body }, 'application/problem+json');
}
