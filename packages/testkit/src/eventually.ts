import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Deadline, default 10,000 ms. */
  readonly timeoutMs?: number;
  /** Pause between two calls, default 20 ms. */
  readonly intervalMs?: number;
  /** What was expected, for the error's text: "expected within 10000 ms that <message>". */
  readonly message?: string;
}

/**
 * Calls `check` until it neither throws nor returns `false`, and returns its value. Both styles work: `eventually(() => {
 * expect(n).toBe(3); })` and `eventually(() => list.find(byId) ?? false)`. Throws at the deadline, with the last error of `check` as the
 * cause, and also when `check` has not settled by then.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const { timeoutMs = 10_000, intervalMs = 20 } = options;
  const end = performance.now() + timeoutMs;
  const late = wait<false>(timeoutMs, false, { ref: false });
  let cause: unknown;
  for (;;) {
    try {
      const value = await Promise.race([check(), late]);
      if (isNotFalse(value)) return value;
    } catch (error) {
      cause = error;
    }
    await wait(intervalMs);
    if (performance.now() >= end) throw timeoutError(timeoutMs, cause, options.message);
  }
}

function timeoutError(timeoutMs: number, cause: unknown, message = 'the condition holds'): Error {
  const seen = cause instanceof Error ? `: ${cause.message}` : '';
  return new Error(`expected within ${timeoutMs} ms that ${message}${seen}`, { cause });
}

const isNotFalse = <T>(value: T): value is Exclude<T, false> => value !== false;

/** The state of each thread of a process, as one letter; none without `/proc`. */
async function threadStates(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => []);
  const stats = await Promise.all(threads.map((thread) => readFile(`${folder}/${thread}/stat`, 'latin1')));
  // The state follows the name in parentheses, which may itself contain parentheses.
  return stats.map((stat) => stat.charAt(stat.lastIndexOf(')') + 2));
}

/**
 * Sends SIGSTOP to a process and waits until all its threads have stopped. One thread gets the signal and stops the others when it is
 * scheduled. On a loaded machine they continue until then.
 */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await eventually(async () => (await threadStates(pid)).every((state) => state === 'T'), {
    message: `process ${pid} has stopped`,
  });
}
