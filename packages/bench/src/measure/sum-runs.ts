import type { RunResult } from '../world/run-plan.js';
import type { SpanUsage } from './usage-span.js';

/** What can be said of several runs together. */
export type RunSums = Pick<RunResult, 'totals' | 'waiting' | 'seconds' | 'usage' | 'othersPercent'>;

const sum = <T>(all: readonly T[], pick: (one: T) => number): number =>
  all.reduce((total, one) => total + pick(one), 0);

/** CPU and growth added up, the highest peak, and the memory at the end of the last run, for each process. */
function sumUsage(all: readonly (readonly SpanUsage[])[]): readonly SpanUsage[] {
  const last = all.at(-1) ?? [];
  return last.map(({ name, rssBytes }) => {
    const own = all.flatMap((usage) => usage.filter((one) => one.name === name));
    return {
      name,
      rssBytes,
      cpuMicros: sum(own, ({ cpuMicros }) => cpuMicros),
      peakBytes: Math.max(...own.map(({ peakBytes }) => peakBytes)),
      grownBytes: sum(own, ({ grownBytes }) => grownBytes),
    };
  });
}

/** Runs of the same processes, one after the other, as if they were one; at least one. */
export function sumRuns(runs: readonly RunSums[]): RunSums {
  const seconds = sum(runs, (run) => run.seconds);
  return {
    totals: {
      accepted: sum(runs, ({ totals }) => totals.accepted),
      delivered: sum(runs, ({ totals }) => totals.delivered),
      duplicates: sum(runs, ({ totals }) => totals.duplicates),
      refused: sum(runs, ({ totals }) => totals.refused),
      strangers: sum(runs, ({ totals }) => totals.strangers),
    },
    waiting: sum(runs, ({ waiting }) => waiting),
    seconds,
    usage: sumUsage(runs.map(({ usage }) => usage)),
    othersPercent: sum(runs, (run) => run.othersPercent * run.seconds) / seconds,
  };
}
