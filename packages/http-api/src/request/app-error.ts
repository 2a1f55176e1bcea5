import type { ProblemCode, Violation } from '@webhooks/contracts';
import type { Shed } from '../limits/shed.js';

export interface AppErrorOptions {
  readonly violations?: readonly Violation[];
  /** Further headers. Temporary faults have `Retry-After: 1` by default. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem, such as the `ref` of a conflict. */
  readonly members?: Readonly<Record<string, unknown>>;
  /**
   * Set when the request was refused for a limit or for capacity. Such refusals are counted, and logged at most once
   * in 10 s.
   */
  readonly shed?: Shed;
  readonly cause?: unknown;
}

/** Codes of temporary faults. */
const TEMPORARY = new Set<ProblemCode>(['too-many-requests', 'database-unavailable', 'unavailable']);

/** A fault that is shown to the caller, as a problem (RFC 9457) with the status of its code. */
export class AppError extends Error {
  readonly code: ProblemCode;
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;
  readonly shed: Shed | undefined;

  /** `detail` is shown to the caller: what was expected, without secrets and without text of a library. */
  constructor(code: ProblemCode, detail: string, options: AppErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.violations = options.violations ?? [];
    this.headers = { ...(TEMPORARY.has(code) && { 'retry-after': '1' }), ...options.headers };
    this.members = options.members ?? {};
    this.shed = options.shed;
  }
}

/** Makes a 422 that names one or several faults of the request. */
export function invalidRequest(
  violations: readonly Violation[],
  code: ProblemCode = 'invalid-request',
): AppError {
  const [first] = violations;
  const detail = first ? `${first.property || 'request'} ${first.reason}` : 'the request is not valid';
  const more = violations.length > 1 ? `, and ${violations.length - 1} more: see violations` : '';
  return new AppError(code, `${detail}${more}`, { violations });
}

/** Makes the error of a statement that the database did not run in time; see `createRunQuery`. */
export const databaseUnavailable = (cause?: unknown): AppError =>
  new AppError('database-unavailable', 'the database is not available; try again', { cause });
