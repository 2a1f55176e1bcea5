import { createLogThrottles, errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';
import type { Request, Response } from 'express';
import type { AppError } from '../request/app-error.js';

/** Reports faults of ours, of each kind by a tally of its own: while a dependency is away there is one for each request. */
export function createFaultLog(log: Logger) {
  const throttle = createLogThrottles();
  return (error: AppError, request: Request, response: Response): void => {
    if (!error.code.endsWith('error') && !error.code.endsWith('unavailable')) return;
    throttle(error.code, (requests) =>
      log.error('requests failed', {
        ...{ requests, requestId: response.get('x-request-id') },
        path: request.path,
        code: error.code,
        ...(error.cause === undefined ? { reason: error.message } : errorFields(error.cause)),
      }),
    );
  };
}

/** The client that a verified payload names; undefined while the signature was not verified. */
function clientOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null || !('payload' in cause)) return undefined;
  const { payload } = cause;
  const clientId =
    typeof payload === 'object' && payload !== null && 'client_id' in payload ? payload.client_id : undefined;
  return typeof clientId === 'string' ? clientId.slice(0, MAX_CLIENT_ID) : undefined;
}

/** Characters of a client's id in a log line. */
const MAX_CLIENT_ID = 128;

/** Reports 401 in the log, of each kind of fault by a tally of its own. */
export function createRefusedTokenLog(log: Logger): (error: AppError) => void {
  const throttle = createLogThrottles();
  return ({ message, cause }) => {
    const clientId = clientOf(cause);
    const latest = clientId === undefined ? {} : { latestClientId: clientId };
    throttle(message, (requests) =>
      log.warn('access tokens are refused', { fault: message, requests, ...latest }),
    );
  };
}
