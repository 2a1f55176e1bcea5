import type { Percentiles } from '../measure/histogram.js';
import { cpuOf } from '../measure/usage-span.js';
import type { SpanUsage } from '../measure/usage-span.js';
import { atMost } from '../report/figure.js';
import type { Figure, RunReport } from '../report/figure.js';
import type { RunSums } from '../measure/sum-runs.js';
import type { RunResult } from '../world/run-plan.js';

const MIB = 1_048_576;
/** Of a worker, in every scenario but the million configurations. */
const WORKER_MIB = 300;

/** The generator plays the payment system and the receiver the integrators: neither is part of the system. */
const OUTSIDE = ['receiver', 'generator'];
export const isSystem = (name: string): boolean => !OUTSIDE.includes(name);
export const isWorker = (name: string): boolean => name.startsWith('delivery-worker');

const ms = (micros: number): number => micros / 1_000;

/** p50, p90, p99, p99.9 and the longest, in milliseconds. */
export const percentileFigures = (what: string, { p50, p90, p99, p999, max }: Percentiles): Figure[] =>
  Object.entries({ p50, p90, p99, 'p99.9': p999, max }).map(([name, micros]) => ({
    name: `${what}, ${name}`,
    value: ms(micros),
    unit: 'ms',
  }));

/** How late the generator itself was, in the worst of these runs. */
export function latenessFigures(...runs: readonly Pick<RunResult, 'load'>[]): Figure[] {
  const latenesses = runs.flatMap(({ load }) => load.lateness ?? []);
  if (latenesses.length === 0) return [];
  const worst = (name: 'p99' | 'max'): number => Math.max(...latenesses.map((lateness) => lateness[name]));
  return [
    { name: 'generator late by, p99', value: ms(worst('p99')), unit: 'ms' },
    { name: 'generator late by, max', value: ms(worst('max')), unit: 'ms' },
  ];
}

export const memoryFigures = (usage: readonly SpanUsage[]): Figure[] =>
  usage
    .filter(({ name }) => isWorker(name))
    .map(({ name, peakBytes }) => ({
      name: `memory of ${name}, at most`,
      value: peakBytes / MIB,
      unit: 'MiB',
      bar: atMost(WORKER_MIB),
      worstOnly: true,
    }));

/** CPU of the workers, and of the whole system, for each delivery, in microseconds. */
export const workerCpu = ({ usage, totals }: RunSums): number => cpuOf(usage, isWorker) / totals.delivered;
export const systemCpu = ({ usage, totals }: RunSums): number => cpuOf(usage, isSystem) / totals.delivered;

/** How far the other figures can be trusted. */
export const othersFigure = (percent: number): Figure => ({
  name: 'of the machine taken by others meanwhile',
  value: percent,
  unit: '%',
});

/** The ledger in one line, and what each process used for each delivery. */
export function runReport(
  run: string,
  result: RunSums,
  figures: readonly Figure[],
): Omit<RunReport, 'scenario'> {
  const { accepted, delivered, duplicates, refused } = result.totals;
  const waiting = result.waiting > 0 ? ` waiting=${result.waiting}` : '';
  return {
    run,
    ledger: `accepted=${accepted} delivered=${delivered}${waiting} duplicates=${duplicates} refused=${refused} lost=0`,
    figures: [...figures, ...memoryFigures(result.usage), othersFigure(result.othersPercent)],
    usage: { deliveries: delivered, processes: result.usage },
  };
}
