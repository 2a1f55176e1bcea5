import type { Violation } from '@webhooks/contracts';

/** The body of an error answer (RFC 9457), as far as it was one. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Stable word for the kind of problem, such as `webhook-already-registered`. */
  readonly code: string;
  readonly correlationId?: string;
  readonly violations: readonly Violation[];
  /** Everything else that the problem says, such as the `ref` of a conflict. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** The service answered with an error. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

const text = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback);

function isViolation(value: unknown): value is Violation {
  return typeof value === 'object' && value !== null && 'property' in value && 'reason' in value;
}

/** Reads an error answer; a body that is no problem (a proxy's HTML page) becomes one with the code `unknown`. */
export function parseProblem(status: number, body: unknown): Problem {
  const members: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {};
  const { violations, correlationId } = members;
  return {
    type: text(members['type'], 'about:blank'),
    title: text(members['title'], 'the service answered with an error'),
    status,
    detail: text(members['detail'], `HTTP status ${status}`),
    code: text(members['code'], 'unknown'),
    ...(typeof correlationId === 'string' ? { correlationId } : {}),
    violations: Array.isArray(violations) ? violations.filter(isViolation) : [],
    members,
  };
}
