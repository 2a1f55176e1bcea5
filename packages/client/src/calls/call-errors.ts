import { isObject } from './parse-response.js';
import type { Violation } from '../types/event-types.js';

interface CallPlace {
  readonly method: string;
  /** Scheme, host and port of the request; never its path, query, headers or body. */
  readonly origin: string;
}

/** Copies name and message of an error only. A library's error also holds the request with its secrets, or raw bytes. */
function bare(fault: unknown): Error {
  const { name, message } = fault instanceof Error ? fault : new Error(String(fault));
  const copy = new Error(message);
  copy.name = name;
  return copy;
}

function codeOf(fault: unknown): string {
  const { name, code } = isObject(fault) ? fault : {};
  if (name === 'TimeoutError') return 'ECONNABORTED';
  return typeof code === 'string' ? code : 'UNKNOWN';
}

/**
 * No response was received, so it is unknown whether the service carried out the request. The error holds only method and origin of the
 * request.
 */
export class ConnectionError extends Error {
  /** Short word such as `ECONNREFUSED`, or `ECONNABORTED` after the time-out. */
  readonly code: string;
  readonly method: string;
  readonly origin: string;

  constructor({ method, origin }: CallPlace, fault: unknown) {
    const [code, cause] = [codeOf(fault), bare(fault)];
    // Node's message names the proxy or the address that refused.
    const reason = cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`;
    super(`${method} ${origin}: no response (${reason})`, { cause });
    this.name = 'ConnectionError';
    this.code = code;
    this.method = method;
    this.origin = origin;
  }
}

/** A response that is neither an error of the service nor one of this operation, such as a redirect or a proxy's page. */
export class UnexpectedResponseError extends Error {
  readonly status: number;
  readonly method: string;
  readonly origin: string;

  /** `reason` says what was expected, without the received body. */
  constructor({ method, origin }: CallPlace, status: number, reason: string) {
    super(`${method} ${origin}: unexpected response with status ${status}: ${reason}`);
    this.name = 'UnexpectedResponseError';
    this.status = status;
    this.method = method;
    this.origin = origin;
  }
}

/** The codes of problems. A newer service may have more, so `code` of a problem can be any text. */
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

/** The body of an error response (RFC 9457), with defaults for members that it lacks. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Stable word for the kind of problem; `unknown` for any other body, such as a proxy's page. */
  readonly code: ProblemCode | 'unknown' | (string & Record<never, never>);
  readonly correlationId?: string;
  readonly violations: readonly Violation[];
  /** All members of the body, such as the `ref` of a conflict. */
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

/** The token issuer responded with an error (RFC 6749 §5.2): `code` is its `error`, and `problem.detail` its `error_description`. */
export class IssuerError extends ProblemError {
  constructor(problem: Problem, origin: string) {
    super({ ...problem, title: `the token issuer ${origin} responded with an error` });
    this.name = 'IssuerError';
    this.message = `${this.problem.title}: ${this.message}`;
  }
}

const text = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback);

const isViolation = (value: unknown): value is Violation =>
  isObject(value) && 'property' in value && 'reason' in value;

/** Parses an error response of a service or a token issuer (RFC 6749 §5.2). Others, such as a proxy's page, get the code `unknown`. */
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
