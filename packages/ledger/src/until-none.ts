import { setTimeout as delay } from 'node:timers/promises';

/** Longer than a breaker's first two pauses, 30 s and 60 s. Only a run that fails waits for so long. */
export const STALLED_MS = 120_000;

export interface Looks {
  readonly everyMs: number;
  /** How often in a row nothing has to be left, default once. */
  readonly times?: number;
  /** Nothing less for so long means that it will not get less, default two minutes. */
  readonly stalledMs?: number;
}

/** Looks until nothing is left, or until what is left gets no less. */
export async function untilNone(
  countLeft: () => number | Promise<number>,
  { everyMs, times = 1, stalledMs = STALLED_MS }: Looks,
): Promise<void> {
  let [least, changedAt] = [Infinity, performance.now()];
  for (let none = 0; performance.now() - changedAt < stalledMs;) {
    const left = await countLeft();
    none = left === 0 ? none + 1 : 0;
    if (none === times) return;
    if (left < least) [least, changedAt] = [left, performance.now()];
    await delay(everyMs);
  }
}
