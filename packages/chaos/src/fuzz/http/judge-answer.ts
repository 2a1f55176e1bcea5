import { PROBLEMS } from '@webhooks/contracts';
import type { OpenApiDocument } from '@webhooks/testkit';
import type { HttpAnswer } from './parse-answers.js';
import type { FuzzRequest } from './request.js';

/** What the HTTP parser answers by itself, without a body, and closes (RFC 9112 §2.2, RFC 9110 §15.5). */
const TRANSPORT: ReadonlySet<number> = new Set([400, 408, 413, 417, 431]);
/** Of them, those that a well-formed request can bring about: a header block over 16 KiB, an expectation. */
const TRANSPORT_OF_VALID: ReadonlySet<number> = new Set([417, 431]);
const SUCCESS: ReadonlySet<number> = new Set([200, 202, 204]);
/** What no answer tells: stacks, modules, addresses of engines. */
const LEAKS = [
  /\n\s+at /,
  /node_modules/,
  /\.(?:ts|js):\d+:\d+/,
  /mongodb:\/\//,
  /ECONN|ENOENT|KafkaJS|Mongo[A-Z]/,
];

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

type Problem = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Problem => typeof value === 'object' && value !== null;

const hasItsId = (problem: Problem, { headers }: HttpAnswer): boolean =>
  problem['correlationId'] !== undefined && problem['correlationId'] === headers.get('x-request-id');

function faultsOfProblem(problem: unknown, answer: HttpAnswer): readonly string[] {
  if (!isObject(problem)) return ['the problem is no JSON object'];
  const known = Object.entries(PROBLEMS).find(([code]) => code === problem['code'])?.[1].status;
  if (known === undefined) return [`the code ${String(problem['code'])} is not known`];
  const faults = hasItsId(problem, answer) ? [] : ['the correlation id is not the one of the header'];
  const agrees = [known, problem['status']].every((status) => status === answer.status);
  return agrees ? faults : [...faults, 'status and code disagree'];
}

function faultsOfStatus({ status }: HttpAnswer, problem: unknown): readonly string[] {
  if (status < 500) return [];
  // A query that has to wait longer than it may says so; nothing else of the services is in trouble here.
  const isExpected = status === 503 && isObject(problem) && problem['code'] === 'unavailable';
  return isExpected ? [] : [`a status ${status}`];
}

function faultsOfBody(answer: HttpAnswer, isHead: boolean): readonly string[] {
  if (isHead || SUCCESS.has(answer.status)) return [];
  const type = answer.headers.get('content-type') ?? 'none';
  if (!type.startsWith('application/problem+json')) return [`an error of the content type ${type}`];
  const problem = parse(answer.body);
  return [...faultsOfProblem(problem, answer), ...faultsOfStatus(answer, problem)];
}

function faultsOfOperation(
  answer: HttpAnswer,
  { method, path }: FuzzRequest,
  document: OpenApiDocument,
): readonly string[] {
  if (path === undefined) return [];
  const contentType = answer.headers.get('content-type') ?? null;
  const { status } = answer;
  return document.faultsOfAnswer({ method, path, status, contentType, body: parse(answer.body) });
}

const faultsOfRefusal = ({ status }: HttpAnswer, { expects }: FuzzRequest): readonly string[] =>
  expects === undefined || status === expects ? [] : [`a status ${status} where only ${expects} may be`];

function isOfTransport({ status, headers, body }: HttpAnswer, isWire: boolean): boolean {
  const allowed = isWire ? TRANSPORT : TRANSPORT_OF_VALID;
  return allowed.has(status) && body.length === 0 && !headers.has('content-type');
}

/** What of an answer nobody may see; empty when it is one that the contract knows. */
export function faultsOfAnswer(
  answer: HttpAnswer,
  request: FuzzRequest,
  document: OpenApiDocument,
): readonly string[] {
  const text = answer.body.toString('utf8');
  const leaks = LEAKS.filter((leak) => leak.test(text)).map((leak) => `the answer shows ${leak.source}`);
  if (isOfTransport(answer, request.isWire)) return leaks;
  return [
    ...leaks,
    ...faultsOfRefusal(answer, request),
    ...faultsOfBody(answer, request.method === 'HEAD'),
    ...faultsOfOperation(answer, request, document),
  ];
}
