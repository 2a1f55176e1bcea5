import { setTimeout as delay } from 'node:timers/promises';

/** Longest wait for an engine, its image or its data folder to be ready. Recovery of a large log after kill -9 takes ten seconds. */
export const READY_DEADLINE_MS = 60_000;
/** Longest wait for an engine to end, or to respond at a named address. SecantusDB takes 2 to 5 s to end. */
export const RESPONSE_DEADLINE_MS = 15_000;

/** Resolves with the result of `work`. Throws after `deadlineMs`; the work itself is not interrupted. */
export function beforeDeadline<T>(work: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  const tooLate = Promise.withResolvers<never>();
  const fault = new Error(`${what} was not done within ${deadlineMs / 1_000} s`);
  const timer = setTimeout(() => tooLate.reject(fault), deadlineMs);
  return Promise.race([work, tooLate.promise]).finally(() => clearTimeout(timer));
}

/** How long a condition is polled, and how often; `everyMs`: default 25. */
export interface PollOptions {
  readonly deadlineMs: number;
  readonly everyMs?: number;
  /** Whether waiting is useless, for example because the process has ended. */
  readonly isAbandoned?: () => boolean;
}

/** Polls `obstacleOf` until it returns undefined, the wait is abandoned, or the deadline has passed. Resolves with the last obstacle. */
export async function untilClear(
  obstacleOf: () => Promise<string | undefined>,
  { deadlineMs, everyMs = 25, isAbandoned = () => false }: PollOptions,
): Promise<string | undefined> {
  const endsAt = performance.now() + deadlineMs;
  for (;;) {
    const obstacle = await obstacleOf();
    if (obstacle === undefined || isAbandoned() || performance.now() > endsAt) return obstacle;
    await delay(everyMs);
  }
}

/** Receives one finished line of text, without a line break. */
export type Log = (line: string) => void;

const NOTICE_MS = 2_000;

/** Runs `work` and returns its result. Logs every two seconds that it still runs. */
export async function withProgress<T>(log: Log, title: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const notice = () => log(`${title} … ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  const timer = setInterval(notice, NOTICE_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
