import type { AxiosResponse } from 'axios';
import axios from 'axios/dist/browser/axios.cjs';
import { ConnectionError, UnexpectedResponseError, ProblemError, parseProblem } from './call-errors.js';
import { createNodeAdapter } from './node-adapter.js';
import type { ParseResponse } from './parse-response.js';

/** Options of a single call. */
export interface RequestOptions {
  /** Ends the call, which rejects with the signal's reason. It is then unknown whether the service carried out the request. */
  readonly signal?: AbortSignal | undefined;
  /** Time for one request, in milliseconds; default: the client's. */
  readonly timeoutMs?: number | undefined;
}

export interface CallOptions {
  /** Time for one request, in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum number of retries after 429, 500, 502, 503, 504 or a broken connection; default 4. */
  readonly maxRetries?: number;
  /** Longest wait before a retry, in milliseconds; default 60,000. A longer `Retry-After` ends the call with the error of its response. */
  readonly maxWaitMs?: number;
  /**
   * The `https.Agent` of Node for all https addresses, also the issuer's. With it come other authorities, a client certificate or another
   * proxy. Default: one that honours `HTTPS_PROXY` and `NO_PROXY`. Its type lets browsers have no types of Node.
   */
  readonly httpsAgent?: object;
}

export interface CallRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Address, or the path after `baseURL`. */
  readonly url: string;
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly data?: unknown;
  readonly params?: object | undefined;
  /** The statuses that mean success; default 200. */
  readonly statuses?: readonly number[];
  readonly parse: ParseResponse<T>;
  /** False for an operation that must not be done twice: it is never retried. Default true. */
  readonly retryable?: boolean;
  /** How long the service may wait before it responds, added to the time-out; default 0, milliseconds. */
  readonly waitMs?: number;
  readonly options?: RequestOptions | undefined;
}

export type Call = <T>(request: CallRequest<T>) => Promise<T>;

const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const FIRST_WAIT_MS = 100;

/** Parses `Retry-After`, seconds or a date (RFC 9110 §10.2.3), into milliseconds; 0 for anything else. */
const parseRetryAfter = (value: unknown): number =>
  (/^\d+$/.test(String(value)) ? Number(value) * 1_000 : Date.parse(String(value)) - Date.now()) || 0;

/** Returns the wait before the next retry, in milliseconds: it doubles each time, with up to half of it added at random. */
const waitFor = (attempt: number): number => FIRST_WAIT_MS * 2 ** attempt * (1 + Math.random() / 2);

const placeOf = ({ method, url, baseURL }: CallRequest<unknown>) => ({
  method,
  origin: URL.canParse(url, baseURL) ? new URL(url, baseURL).origin : 'an address that is no URL',
});

/** Returns the parsed body of a response, or throws the error that it means. */
function readResponse<T>(request: CallRequest<T>, { status, data, headers }: AxiosResponse<unknown>): T {
  if (status >= 400) throw new ProblemError(parseProblem(status, data));
  const { statuses = [200], parse } = request;
  if (!statuses.includes(status))
    throw new UnexpectedResponseError(placeOf(request), status, `expected ${statuses.join(' or ')}`);
  const parsed = parse(data);
  if (parsed !== undefined) return parsed;
  const reason = `the body (${String(headers['content-type'])}) is not one of this operation`;
  throw new UnexpectedResponseError(placeOf(request), status, reason);
}

type Send = (request: CallRequest<unknown>) => Promise<AxiosResponse<unknown>>;

function createSend(clientTimeoutMs: number, httpsAgent: object | undefined): Send {
  const adapter = createNodeAdapter(httpsAgent);
  const http = axios.create({
    ...(adapter && { adapter }),
    maxContentLength: 16 * 1_048_576,
    validateStatus: () => true,
  });
  return async (request) => {
    const { method, url, baseURL, headers, data, params, waitMs = 0, options = {} } = request;
    const { signal, timeoutMs = clientTimeoutMs } = options;
    signal?.throwIfAborted();
    // The time-out of axios would restart with each byte.
    const limit = AbortSignal.any(
      [AbortSignal.timeout(timeoutMs + waitMs), signal].filter((one) => one !== undefined),
    );
    // A record, because the types of axios let no optional member be undefined.
    const wanted: Record<string, unknown> = { method, url, baseURL, headers, data, params };
    try {
      // Node heeds no signal before it has the tunnel of a proxy.
      return await unlessAborted(http.request<unknown>({ ...wanted, signal: limit }), limit);
    } catch (fault) {
      signal?.throwIfAborted();
      throw new ConnectionError(placeOf(request), limit.aborted ? limit.reason : fault);
    }
  };
}

/** Resolves as `work` does, or rejects with the signal's reason when the signal aborts first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let end: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason as Error);
    signal.addEventListener('abort', end);
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', end));
}

/** Waits; rejects with the signal's reason when it aborts. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await unlessAborted(passed, signal).finally(() => clearTimeout(timer));
}

/**
 * Creates a function that calls operations over HTTP. A retryable operation is retried after a lost response or a transient error. Throws
 * `ProblemError` for an error response after the last retry, and `ConnectionError` when no response was received. Throws
 * `UnexpectedResponseError` for any other response, also for a redirect, which is never followed. Bodies over 16 MiB are refused.
 */
export function createCall({
  timeoutMs = 10_000,
  maxRetries = 4,
  maxWaitMs = 60_000,
  httpsAgent,
}: CallOptions): Call {
  const send = createSend(timeoutMs, httpsAgent);
  const once = async (
    request: CallRequest<unknown>,
    attempt: number,
  ): Promise<AxiosResponse<unknown> | number> => {
    const last = request.retryable === false || attempt >= maxRetries;
    try {
      const response = await send(request);
      const wantedMs = parseRetryAfter(response.headers['retry-after']);
      const again = !last && RETRIED_STATUSES.has(response.status) && wantedMs <= maxWaitMs;
      return again ? Math.max(waitFor(attempt), wantedMs) : response;
    } catch (error) {
      if (last || !(error instanceof ConnectionError)) throw error;
      return waitFor(attempt);
    }
  };
  return async (request) => {
    for (let attempt = 0; ; attempt += 1) {
      const result = await once(request, attempt);
      if (typeof result !== 'number') return readResponse(request, result);
      await pause(Math.min(result, maxWaitMs), request.options?.signal);
    }
  };
}
