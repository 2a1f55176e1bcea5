import { isObject } from './parse-response.js';
import type { Violation } from '../types/types.js';

/** Words of the services for what went wrong. More may come: `code` of a problem can be any text. */
export type ProblemCode =
  | 'invalid-token'
  | 'insufficient-scope'
  | 'forbidden-tenant'
  | 'invalid-request'
  | 'invalid-endpoint-url'
  | 'webhook-already-registered'
  | 'webhook-not-registered'
  | 'webhook-ambiguous'
  | 'webhook-disabled'
  | 'not-redeliverable'
  | 'cursor-expired'
  | 'proof-failed'
  | 'limit-reached'
  | 'no-event-accepted'
  | 'not-found'
  | 'method-not-allowed'
  | 'too-many-requests'
  | 'internal-error'
  | 'database-unavailable'
  | 'keys-unavailable'
  | 'unavailable';

/** The body of an error response (RFC 9457), as far as it was one. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Stable word for the kind of problem; `unknown` for what is no problem of the services, such as a proxy's page. */
  readonly code: ProblemCode | 'unknown' | (string & Record<never, never>);
  readonly correlationId?: string;
  readonly violations: readonly Violation[];
  /** Everything else that the problem says, such as the `ref` of a conflict. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** The service responded with an error. */
export class ProblemError extends Error {
  readonly problem: Problem;
  readonly code: Problem['code'];
  readonly status: number;

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.name = 'ProblemError';
    this.problem = problem;
    this.code = problem.code;
    this.status = problem.status;
  }
}

const text = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback);

const isViolation = (value: unknown): value is Violation =>
  isObject(value) && 'property' in value && 'reason' in value;

/** Reads an error response, of a token issuer too (RFC 6749 §5.2); what is neither, such as a proxy's page, has the code `unknown`. */
export function parseProblem(status: number, body: unknown): Problem {
  const members = isObject(body) ? body : {};
  const { violations, correlationId } = members;
  return {
    type: text(members['type'], 'about:blank'),
    title: text(members['title'], 'the service responded with an error'),
    status,
    detail: text(members['detail'] ?? members['error_description'], `HTTP status ${status}`),
    code: text(members['code'] ?? members['error'], 'unknown'),
    ...(typeof correlationId === 'string' ? { correlationId } : {}),
    violations: Array.isArray(violations) ? violations.filter(isViolation) : [],
    members,
  };
}
