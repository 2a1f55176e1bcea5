import { setTimeout as delay } from 'node:timers/promises';

/** Longest wait for an engine, its image or its data folder to be ready; recovery after kill -9 of a large log took ten seconds. */
export const READY_DEADLINE_MS = 60_000;
/** Longest wait for an engine to end, or to answer at an address that somebody named; SecantusDB takes 2 to 5 s to end. */
export const ANSWER_DEADLINE_MS = 15_000;

/** Resolves to `work`'s result; throws after `deadlineMs` (the work itself is not interrupted). */
export async function beforeDeadline<T>(work: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  const abort = new AbortController();
  const tooLate = delay(deadlineMs, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`${what} was not done within ${deadlineMs / 1_000} s`);
  });
  tooLate.catch(() => undefined);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    abort.abort();
  }
}

/** How long, and how often, somebody looks. */
export interface PollOptions {
  readonly deadlineMs: number;
  readonly everyMs?: number;
  /** True when waiting makes no sense any more, e.g. because the process has ended. */
  readonly isAbandoned?: () => boolean;
}

/** Looks until no obstacle is left, `isAbandoned`, or the deadline has passed; gives the obstacle that is left then. */
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

const FIRST_NOTICE_MS = 2_000;
const NEXT_NOTICE_MS = 5_000;

/** Runs `work`; when it takes longer than two seconds, says so, says it again every five, and says when it is done. */
export async function withProgress<T>(log: Log, title: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(0);
  let timer = setTimeout(notice, FIRST_NOTICE_MS);
  let notices = 0;
  function notice(): void {
    notices += 1;
    log(`${title} … ${seconds()} s`);
    timer = setTimeout(notice, NEXT_NOTICE_MS);
  }
  try {
    const result = await work();
    if (notices > 0) log(`${title}: done in ${seconds()} s`);
    return result;
  } finally {
    clearTimeout(timer);
  }
}
