import { ConnectionError, IssuerError, ProblemError } from '@webhooks/client';
import { getSystemErrorMessage, styleText } from 'node:util';
import { jsonText, plain, write } from './output.js';

/** The exit code is the index in this list, on which scripts rely. The README explains each. */
const EXITS = ['done', 'failed', 'usage', 'unauthorized', 'not-found', 'unreachable'] as const;
type Exit = (typeof EXITS)[number];

/** What went wrong, and what the reader can do about it. */
export class Failure extends Error {
  readonly exit: Exit;
  readonly code: string;
  readonly fix: string | undefined;

  constructor(exit: Exit, message: string, fix?: string, code: string = exit) {
    super(message);
    this.exit = exit;
    this.code = code;
    this.fix = fix;
  }
}

export const usage = (message: string, fix?: string): Failure => new Failure('usage', message, fix);

/** Fixes by the `code` of a problem (see `packages/contracts/README.md`), or by its exit when the code has none. */
const FIXES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'invalid-token': 'check audience and scope, and log in again: webhooks login',
    'insufficient-scope':
      'ask the operator for the scope, or log in as another client: webhooks login --profile NAME',
    'webhook-already-registered': 'change the one that is there: webhooks update REF',
    'webhook-not-registered': 'see which there are: webhooks list',
    'webhook-disabled': 'enable it first: webhooks enable REF',
    'not-redeliverable': 'see its state: webhooks deliveries show ID',
    'cursor-expired': 'start listening again; what was missed can be sent by: webhooks redeliveries create',
    'proof-failed': 'let the endpoint respond as the operator demands: webhooks doctor URL',
    'limit-reached': 'see which there are: webhooks list, webhooks alerts list, webhooks redeliveries list',
    'not-found': 'check the id; another tenant has other ids: --profile NAME',
    'invalid-request': 'correct what it names; see the command with --help',
    unreachable: 'try again in a minute',
    'too-many-requests': 'wait, or end another webhooks listen',
  }),
);

const WRONG_ADDRESS = 'the address is wrong: WEBHOOKS_QUERY_URL, WEBHOOKS_INGEST_URL, or webhooks login';

function exitOf(status: number, code: string): Exit {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404 || code === 'webhook-not-registered') return 'not-found';
  if (code === 'invalid-request') return 'usage';
  return status === 429 || status >= 500 ? 'unreachable' : 'failed';
}

function fromProblem({ problem }: ProblemError): Failure {
  const { status, code, title, detail, violations, correlationId } = problem;
  const what = violations.map(({ property, reason }) => `${property} ${reason}`).join('; ') || detail;
  const trace = status >= 500 ? ` (correlation id ${correlationId ?? 'unknown'})` : '';
  const exit = exitOf(status, code);
  const fix = /at this path|path is served by/.test(detail)
    ? WRONG_ADDRESS
    : (FIXES.get(code) ?? FIXES.get(exit));
  return new Failure(exit, `${title}: ${what}${trace}`, fix, code);
}

/** Returns the message of an error; of the file system's, file and reason in words. */
export function describeFault(error: unknown, file?: string): string {
  if (!(error instanceof Error)) return String(error);
  const { path = file, errno, message }: NodeJS.ErrnoException = error;
  return path === undefined || errno === undefined ? message : `${path}: ${getSystemErrorMessage(errno)}`;
}

/** Converts an error into a failure, with its exit code, message and fix. */
export function toFailure(error: unknown, who = ''): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof IssuerError) return fromIssuer(error);
  if (error instanceof ProblemError) return fromProblem(error);
  if (error instanceof ConnectionError) {
    const reason = error.message.replace(/^.*no response/, `no response from ${who}${error.origin}`);
    const fix = 'check that the service runs, its address (webhooks login), and HTTPS_PROXY';
    return new Failure('unreachable', reason, fix, error.code);
  }
  return new Failure('failed', describeFault(error));
}

/** As `fromProblem`, for the token issuer, which has no code of the service. */
function fromIssuer({ status, code, message }: IssuerError): Failure {
  if (exitOf(status, code) === 'unreachable')
    return new Failure('unreachable', message, FIXES.get('unreachable'), code);
  const fix = 'check token endpoint, client id, secret, scope and audience: webhooks login';
  return new Failure('unauthorized', message, fix, 'invalid-client');
}

/** Writes a fault to standard error, because standard output holds results only. Returns the exit code. */
export function reportFailure(fault: unknown, json: boolean): number {
  const { exit, code, message, fix } = toFailure(fault);
  const stream = { stream: process.stderr };
  const lines = (foreign: string): string => foreign.split('\n').map(plain).join('\n');
  const advice = fix === undefined ? '' : `\n${styleText('dim', '→', stream)} ${lines(fix)}`;
  const text = styleText('red', lines(message), stream) + advice;
  write(process.stderr, json ? jsonText({ error: { code, message, fix } }) : text);
  return EXITS.indexOf(exit);
}
