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
 * Calls `check` until it neither throws nor returns `false`, and returns its value.
 * So both styles work: `eventually(() => { expect(n).toBe(3); })` and `eventually(() => list.find(byId) ?? false)`.
 * The last throw is the cause of the final error.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const { timeoutMs = 10_000, intervalMs = 20 } = options;
  const end = performance.now() + timeoutMs;
  for (;;) {
    const asked = await ask(check);
    if ('value' in asked && isYes(asked.value)) return asked.value;
    if (performance.now() >= end) throw tooLate(timeoutMs, options.message, asked);
    await wait(intervalMs);
  }
}

type Asked<T> = { readonly value: T } | { readonly error: unknown };

async function ask<T>(check: () => T | Promise<T>): Promise<Asked<T>> {
  try {
    return { value: await check() };
  } catch (error) {
    return { error };
  }
}

function tooLate(timeoutMs: number, message: string | undefined, asked: Asked<unknown>): Error {
  const cause = 'error' in asked ? asked.error : undefined;
  const seen = cause instanceof Error ? `: ${cause.message}` : '';
  return new Error(`expected within ${timeoutMs} ms that ${message ?? 'the condition holds'}${seen}`, {
    cause,
  });
}

function isYes<T>(value: T): value is Exclude<T, false> {
  return value !== false;
}
