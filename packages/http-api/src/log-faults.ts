import { createTallies, errorFields } from '@webhooks/runtime';
import type { Logger } from '@webhooks/runtime';
import type { Request, Response } from 'express';
import type { AppError } from './app-error.js';

/** Reports faults of ours, of each kind by a tally of its own: while a dependency is away there is one for each request. */
export function createFaultLog(log: Logger) {
  const tally = createTallies(() => performance.now());
  return (error: AppError, request: Request, response: Response): void => {
    if (!error.code.endsWith('error') && !error.code.endsWith('unavailable')) return;
    const requests = tally(error.code);
    if (requests === undefined) return;
    log.error('requests failed', {
      ...{ requests, requestId: response.get('x-request-id') },
      path: request.path,
      code: error.code,
      ...(error.cause === undefined ? { reason: error.message } : errorFields(error.cause)),
    });
  };
}
