import type { Percentiles } from '../measure/times.js';
import { cpuOf } from '../measure/usage.js';
import type { ProcessUsage } from '../measure/usage.js';
import { atMost, figure } from '../report.js';
import type { Figure, Shown } from '../report.js';
import type { RunResult } from '../world/run.js';

/** Of a worker, in every scenario. */
const WORKER_MIB = 300;

/** The generator plays the payment system and the receiver the integrators: neither is part of the system. */
const isSystem = (name: string): boolean => name !== 'receiver' && name !== 'generator';
const isWorker = (name: string): boolean => name === 'delivery-worker';

const sum = <T>(all: readonly T[], pick: (one: T) => number): number =>
  all.reduce((total, one) => total + pick(one), 0);
const deliveredIn = (runs: readonly RunResult[]): number => sum(runs, ({ totals }) => totals.delivered);

/** CPU of the worker, or of the whole system, for each delivery, in microseconds. */
const cpuEach = (runs: readonly RunResult[], isWanted: (name: string) => boolean): number =>
  sum(runs, ({ usage }) => cpuOf(usage.processes, isWanted)) / deliveredIn(runs);
export const workerCpu = (runs: readonly RunResult[]): number => cpuEach(runs, isWorker);
export const systemCpu = (runs: readonly RunResult[]): number => cpuEach(runs, isSystem);

/** Of runs one after the other, from the first event sent until the last delivery. */
export const deliveriesPerSecond = (runs: readonly RunResult[]): number =>
  deliveredIn(runs) / sum(runs, ({ seconds }) => seconds);

/** p50, p99, p99.9 and the longest, in milliseconds. */
export const percentileFigures = (what: string, { p50, p99, p999, max }: Percentiles): Figure[] =>
  Object.entries({ p50, p99, 'p99.9': p999, max }).map(([name, micros]) =>
    figure(`${what}, ${name}`, micros / 1_000, 'ms'),
  );

/** How far the other figures can be trusted. */
export const othersFigure = (percent: number): Figure =>
  figure('of the machine taken by others meanwhile', percent, '%');

/** Of runs of the same processes: CPU added up, and the highest peak. */
function sumUsage(runs: readonly RunResult[]): readonly ProcessUsage[] {
  const all = Map.groupBy(
    runs.flatMap(({ usage }) => usage.processes),
    ({ name }) => name,
  );
  return [...all].map(([name, own]) => ({
    name,
    cpuMicros: sum(own, ({ cpuMicros }) => cpuMicros),
    peakMib: Math.max(...own.map(({ peakMib }) => peakMib)),
  }));
}

/** Runs of one load as one: the ledger in one line, the worker's memory, and what each process used for each delivery. */
export function showRuns(runs: readonly RunResult[], figures: readonly Figure[]): Shown {
  const processes = sumUsage(runs);
  const worker = processes.find(({ name }) => isWorker(name));
  const total = (name: keyof RunResult['totals']): number => sum(runs, ({ totals }) => totals[name]);
  const waiting = sum(runs, (one) => one.waiting);
  const lateMicros = Math.max(...runs.map(({ load }) => load.lateMicros));
  return {
    ledger: `accepted=${total('accepted')} delivered=${total('delivered')} waiting=${waiting} duplicates=${total('duplicates')} refused=${total('refused')} lost=0`,
    figures: [
      ...figures,
      ...(lateMicros > 0 ? [figure('generator late by, p99', lateMicros / 1_000, 'ms')] : []),
      figure('memory of the worker, at most', worker?.peakMib ?? NaN, 'MiB', atMost(WORKER_MIB)),
      othersFigure(sum(runs, ({ usage }) => usage.othersPercent) / runs.length),
    ],
    usage: { count: total('delivered'), each: 'delivery', processes },
  };
}
