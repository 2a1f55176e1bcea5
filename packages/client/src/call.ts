import { setTimeout as delay } from 'node:timers/promises';
import axios from 'axios';
import type { AxiosInstance, AxiosRequestConfig, AxiosResponse } from 'axios';
import { ConnectionError, UnexpectedAnswerError } from './call-errors.js';
import type { ParseAnswer } from './parse-answer.js';
import { ProblemError, parseProblem } from './problem-error.js';

export interface CallOptions {
  /** Time for one request, in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** How often a request is repeated after 429, 500, 502, 503, 504 or a broken connection; default 4. */
  readonly maxRetries?: number;
  /** Longest wait between two tries, in milliseconds, whatever `Retry-After` says; default 10,000. */
  readonly maxWaitMs?: number;
}

export interface CallRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Address, or the path after `baseURL`. */
  readonly url: string;
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly auth?: AxiosRequestConfig['auth'];
  readonly data?: unknown;
  readonly params?: Readonly<Record<string, string>>;
  /** The statuses with which this operation says that it was done. */
  readonly statuses: readonly number[];
  readonly parse: ParseAnswer<T>;
  /** False for what must not be done twice: then one request is all there is, whatever comes of it. Default true. */
  readonly repeatable?: boolean;
  /** How long the service may wait before it answers, in milliseconds beyond `timeoutMs`. */
  readonly waitMs?: number;
}

export type Call = <T>(request: CallRequest<T>) => Promise<T>;

const REPEATED: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const FIRST_WAIT_MS = 100;

/** `Retry-After` in milliseconds, or what the caller would wait by itself (doubling, with up to a half added at random). */
function waitFor(attempt: number, retryAfter: unknown): number {
  const own = FIRST_WAIT_MS * 2 ** attempt * (1 + Math.random() / 2);
  return typeof retryAfter === 'string' && /^\d{1,6}$/.test(retryAfter)
    ? Math.max(own, Number(retryAfter) * 1_000)
    : own;
}

const placeOf = ({ method, url, baseURL }: CallRequest<unknown>) => ({
  method,
  origin: URL.parse(url, baseURL)?.origin ?? 'an address that is no URL',
});

/** The meaning of an answer: its parsed body, or the error that it is. */
function readAnswer<T>(request: CallRequest<T>, { status, data }: AxiosResponse<unknown>): T {
  if (status >= 400) throw new ProblemError(parseProblem(status, data));
  const { statuses, parse } = request;
  if (!statuses.includes(status))
    throw new UnexpectedAnswerError(placeOf(request), status, `expected ${statuses.join(' or ')}`);
  const parsed = parse(data);
  if (parsed === undefined)
    throw new UnexpectedAnswerError(placeOf(request), status, 'the body is not what this operation answers');
  return parsed;
}

type Ask = (request: CallRequest<unknown>) => Promise<AxiosResponse<unknown>>;

function createAsk(timeoutMs: number): Ask {
  const http: AxiosInstance = axios.create({
    timeout: timeoutMs,
    maxRedirects: 0,
    maxContentLength: 16 * 1_048_576,
    proxy: false,
    validateStatus: () => true,
  });
  return async (request) => {
    const { method, url, baseURL, headers, auth, data, params, waitMs = 0 } = request;
    // A record, because the types of axios let no optional member be undefined.
    const wanted: Record<string, unknown> = { method, url, baseURL, headers, auth, data, params };
    wanted['timeout'] = timeoutMs + waitMs;
    try {
      return await http.request<unknown>(wanted);
    } catch (fault) {
      throw new ConnectionError(placeOf(request), fault);
    }
  };
}

/**
 * Calls over HTTP that are repeated where that is safe: an operation that may be done twice may be sent again
 * when its answer was lost. Throws `ProblemError` for an error answer that stays, `ConnectionError` when none came, and
 * `UnexpectedAnswerError` for anything else that the operation does not answer, redirects (never followed) included.
 * Bodies over 16 MiB are refused.
 */
export function createCall({ timeoutMs = 10_000, maxRetries = 4, maxWaitMs = 10_000 }: CallOptions): Call {
  const ask = createAsk(timeoutMs);
  const once = async (
    request: CallRequest<unknown>,
    attempt: number,
  ): Promise<AxiosResponse<unknown> | number> => {
    const last = request.repeatable === false || attempt >= maxRetries;
    try {
      const response = await ask(request);
      const again = !last && REPEATED.has(response.status);
      return again ? waitFor(attempt, response.headers['retry-after']) : response;
    } catch (error) {
      if (last) throw error;
      return waitFor(attempt, undefined);
    }
  };
  return async (request) => {
    for (let attempt = 0; ; attempt += 1) {
      const result = await once(request, attempt);
      if (typeof result !== 'number') return readAnswer(request, result);
      await delay(Math.min(result, maxWaitMs));
    }
  };
}
