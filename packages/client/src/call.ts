import { setTimeout as delay } from 'node:timers/promises';
import axios from 'axios';
import type { AxiosInstance, AxiosRequestConfig, AxiosResponse } from 'axios';
import { ProblemError, parseProblem } from './problem-error.js';

export interface CallOptions {
  /** Time for one request, in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** How often a request is repeated after 429, 500, 503 or a broken connection; default 4. */
  readonly maxRetries?: number;
  /** Longest wait between two tries, in milliseconds, whatever `Retry-After` says; default 10,000. */
  readonly maxWaitMs?: number;
}

export type Call = (request: AxiosRequestConfig) => Promise<AxiosResponse<unknown>>;

const REPEATED: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const FIRST_WAIT_MS = 100;

/** `Retry-After` in milliseconds, or what the caller would wait by itself (doubling, with up to a half added at random). */
function waitFor(attempt: number, retryAfter: unknown): number {
  const own = FIRST_WAIT_MS * 2 ** attempt * (1 + Math.random() / 2);
  return typeof retryAfter === 'string' && /^\d{1,6}$/.test(retryAfter)
    ? Math.max(own, Number(retryAfter) * 1_000)
    : own;
}

function isBroken(error: unknown): boolean {
  return axios.isAxiosError(error) && error.response === undefined;
}

/**
 * Calls over HTTP that repeat themselves where that is safe: every operation of the service is idempotent, so an answer
 * that was lost may be asked for again. An error answer that stays is thrown as `ProblemError`; a connection that stays
 * broken as axios's own error. Bodies over 16 MiB and redirects are refused.
 */
export function createCall({ timeoutMs = 10_000, maxRetries = 4, maxWaitMs = 10_000 }: CallOptions): Call {
  const http: AxiosInstance = axios.create({
    timeout: timeoutMs,
    maxRedirects: 0,
    maxContentLength: 16 * 1_048_576,
    proxy: false,
    validateStatus: () => true,
  });
  const once = async (
    request: AxiosRequestConfig,
    attempt: number,
  ): Promise<AxiosResponse<unknown> | number> => {
    try {
      const response = await http.request<unknown>(request);
      const again = REPEATED.has(response.status) && attempt < maxRetries;
      return again ? waitFor(attempt, response.headers['retry-after']) : response;
    } catch (error) {
      if (!isBroken(error) || attempt >= maxRetries) throw error;
      return waitFor(attempt, undefined);
    }
  };
  return async (request) => {
    for (let attempt = 0; ; attempt += 1) {
      const result = await once(request, attempt);
      if (typeof result === 'number') {
        await delay(Math.min(result, maxWaitMs));
        continue;
      }
      if (result.status >= 400) throw new ProblemError(parseProblem(result.status, result.data));
      return result;
    }
  };
}
