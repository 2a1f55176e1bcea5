import { setTimeout as delay } from 'node:timers/promises';

/** Longer than a breaker's first two pauses, 30 s and 60 s. Only a run that fails waits for so long. */
export const STALLED_MS = 120_000;

/** Milliseconds between two looks, how often in a row nothing has to be left, and after how long without less it is given up. */
const LOOKS = { everyMs: 500, times: 1, stalledMs: STALLED_MS };

/** Looks until nothing is left, or until what is left gets no less. */
export async function untilNone(
  countLeft: () => number | Promise<number>,
  looks: Partial<typeof LOOKS> = {},
): Promise<void> {
  const { everyMs, times, stalledMs } = { ...LOOKS, ...looks };
  let [least, changedAt] = [Infinity, performance.now()];
  for (let none = 0; performance.now() - changedAt < stalledMs;) {
    const left = await countLeft();
    none = left === 0 ? none + 1 : 0;
    if (none === times) return;
    if (left < least) [least, changedAt] = [left, performance.now()];
    await delay(everyMs);
  }
}
