import type { Logger } from '@webhooks/runtime';

/** Records in any minute, of one worker. A poisoned record comes alone; many of them are a bug that would empty a topic. */
const MAX_RECORDS = 10;
const WINDOW_MS = 60_000;

/** What all sources of a worker put aside together. `now` in milliseconds of a clock that never goes back. */
export function createQuarantineBudget(log: Logger, now = () => performance.now()) {
  const taken: number[] = [];
  let deniedAt = Number.NEGATIVE_INFINITY;
  const isExhausted = (): boolean => now() - deniedAt < WINDOW_MS;
  const deny = (): false => {
    if (!isExhausted())
      log.error('no more records are put aside for now: this is a bug of ours, not of the records', {
        records: MAX_RECORDS,
        withinMs: WINDOW_MS,
      });
    deniedAt = now();
    return false;
  };
  return {
    /** Whether one more record may be put aside now. */
    take: (): boolean => {
      const [oldest = Number.NEGATIVE_INFINITY] = taken;
      if (taken.length >= MAX_RECORDS && now() - oldest < WINDOW_MS) return deny();
      if (taken.push(now()) > MAX_RECORDS) taken.shift();
      return true;
    },
    /** Takes back what was taken last: the record could not be put aside, and is tried again. */
    giveBack: (): void => void taken.pop(),
    /** Why the worker is not ready: within the last minute there was a record that could not be put aside for want of budget. */
    fault: () =>
      isExhausted() ? `more than ${MAX_RECORDS} records a minute fail by our own fault` : undefined,
  };
}

export type QuarantineBudget = ReturnType<typeof createQuarantineBudget>;
