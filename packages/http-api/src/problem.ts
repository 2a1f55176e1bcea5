import { PROBLEMS, problemType } from '@webhooks/contracts';
import type { AppError } from './app-error.js';

export interface ProblemContext {
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
