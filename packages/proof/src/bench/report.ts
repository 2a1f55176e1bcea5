import { align } from '@webhooks/testkit/account';
import { cpuOf } from './measure.js';
import type { ProcessUsage, Percentiles } from './measure.js';
import type { RunResult } from './world/run.js';

/** The limit that a figure has to meet. */
export interface Bar {
  readonly kind: 'at most' | 'at least';
  readonly value: number;
}

export const atMost = (value: number): Bar => ({ kind: 'at most', value });
export const atLeast = (value: number): Bar => ({ kind: 'at least', value });
export const figure = (name: string, value: number, unit: string, bar?: Bar) =>
  ({ name, value, unit, bar }) as const;
export type Figure = ReturnType<typeof figure>;

/** The result of a measurement. */
export interface Measurement {
  /** The delivery account in one line. */
  readonly account: string;
  readonly figures: readonly Figure[];
  /** Usage by process, shown for each of `count` deliveries or attempts. */
  readonly usage?: {
    readonly count: number;
    readonly each: string;
    readonly processes: readonly ProcessUsage[];
  };
}

/** Which run of which scenario, in words. */
interface RunName {
  readonly scenario: string;
  readonly run: string;
}
export type RunReport = RunName & Measurement;
/** A void run has a reason and no figure. */
export type VoidReport = RunName & { readonly why: string };

/** `met` or `missed`; empty where there is no bar. NaN misses. */
export function verdictOf({ value, bar }: Pick<Figure, 'value' | 'bar'>): 'met' | 'missed' | '' {
  if (!bar) return '';
  return (bar.kind === 'at most' ? value <= bar.value : value >= bar.value) ? 'met' : 'missed';
}

/** Three significant digits: 0.042, 4.21, 42.1, 421, 4,210. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  if (size === 0) return '0';
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

function barText({ bar, unit }: Figure): string {
  if (!bar) return '';
  return `${bar.kind === 'at most' ? '≤' : '≥'} ${formatNumber(bar.value)} ${unit}`.trimEnd();
}

/** One run: its title, its delivery account, its figures with unit, bar and verdict, and what each process used. */
export function formatRun({ scenario, run, account, figures, usage }: RunReport): readonly string[] {
  const figureRows = figures.map((one) => [
    `  ${one.name}`,
    formatNumber(one.value),
    one.unit,
    barText(one),
    verdictOf(one),
  ]);
  const usageRows = usage && [
    [`    for each ${usage.each}`, 'CPU µs', 'wake-ups', 'calls', 'bytes', 'MiB at most'],
    ...usage.processes.map(({ name, cpuMicros, wakeUps, calls, bytes, peakMib }) => [
      `    ${name}`,
      ...[cpuMicros, wakeUps, calls, bytes].map((all) => formatNumber(all / usage.count)),
      formatNumber(peakMib),
    ]),
  ];
  return [
    '',
    `${scenario}: ${run}`,
    `  ${account}`,
    ...align(figureRows, [1]),
    ...align(usageRows ?? [], [1, 2, 3, 4, 5]),
  ];
}

/** The closing lines: each figure that has a bar, and the void runs. */
export function formatSummary(
  reports: readonly RunReport[],
  voids: readonly VoidReport[],
): readonly string[] {
  const rows = reports.flatMap(({ scenario, run, figures }) =>
    figures
      .filter(({ bar }) => bar !== undefined)
      .map((one) => [
        `  ${verdictOf(one)}`,
        `${scenario}: ${run}`,
        one.name,
        `${formatNumber(one.value)} ${one.unit}`.trimEnd(),
        barText(one),
      ]),
  );
  const missed = rows.filter(([verdict]) => verdict === '  missed').length;
  return [
    '',
    `bars: ${rows.length - missed} met, ${missed} missed; void runs: ${voids.length}`,
    ...align(rows, [3]),
    ...voids.map(({ scenario, run, why }) => `  void    ${scenario}: ${run}: ${why}`),
  ];
}

/** Limit for the memory of a worker in every scenario, in MiB. */
const WORKER_MIB = 300;

/** The generator plays the payment system and the receiver the integrators: neither is part of the system. */
const isSystem = (name: string): boolean => name !== 'receiver' && name !== 'generator';
const isWorker = (name: string): boolean => name === 'delivery-worker';

const sum = <T>(all: readonly T[], pick: (one: T) => number): number =>
  all.reduce((total, one) => total + pick(one), 0);
const deliveredIn = (runs: readonly RunResult[]): number => sum(runs, ({ totals }) => totals.delivered);

/** CPU time of these processes for each delivery, in microseconds. */
const cpuEach = (isWanted: (name: string) => boolean) => (runs: readonly RunResult[]) =>
  sum(runs, ({ usage }) => cpuOf(usage.processes, isWanted)) / deliveredIn(runs);
export const workerCpu = cpuEach(isWorker);
export const systemCpu = cpuEach(isSystem);

/** Deliveries a second, each run counted from its first event sent to its last delivery. */
export const deliveriesPerSecond = (runs: readonly RunResult[]): number =>
  deliveredIn(runs) / sum(runs, ({ seconds }) => seconds);

/** p50, p99, p99.9 and max, in milliseconds. `bars`: limits by these names; default: none. */
export const percentileFigures = (
  what: string,
  { p50, p99, p999, max }: Percentiles,
  bars: Readonly<Record<string, Bar>> = {},
): Figure[] =>
  Object.entries({ p50, p99, 'p99.9': p999, max }).map(([name, micros]) =>
    figure(`${what}, ${name}`, micros / 1_000, 'ms', bars[name]),
  );

/** CPU share of other processes. A high share makes the other figures unreliable. */
export const othersFigure = (percent: number): Figure =>
  figure('CPU of the machine used by other processes', percent, '%');

/** Combines the runs of one load: the delivery account in one line, the worker's memory, and each process's usage for each delivery. */
export function showRuns(runs: readonly RunResult[], figures: readonly Figure[]): Measurement {
  const byName = Map.groupBy(
    runs.flatMap(({ usage }) => usage.processes),
    ({ name }) => name,
  );
  // Over all runs of a process, CPU time is summed and the highest memory peak wins.
  const processes = [...byName].map(([name, own]) => ({
    name,
    cpuMicros: cpuOf(own),
    wakeUps: sum(own, ({ wakeUps }) => wakeUps),
    calls: sum(own, ({ calls }) => calls),
    bytes: sum(own, ({ bytes }) => bytes),
    peakMib: Math.max(...own.map(({ peakMib }) => peakMib)),
  }));
  const worker = processes.find(({ name }) => isWorker(name));
  const total = (name: keyof RunResult['totals']): number => sum(runs, ({ totals }) => totals[name]);
  const waiting = sum(runs, (one) => one.waiting);
  const lateMicros = Math.max(...runs.map(({ load }) => load.lateMicros));
  return {
    account: `accepted=${total('accepted')} delivered=${total('delivered')} waiting=${waiting} duplicates=${total('duplicates')} refused=${total('refused')} lost=0`,
    figures: [
      ...figures,
      ...(lateMicros > 0 ? [figure('generator late by, p99', lateMicros / 1_000, 'ms')] : []),
      figure('memory of the worker, at most', worker?.peakMib ?? NaN, 'MiB', atMost(WORKER_MIB)),
      othersFigure(sum(runs, ({ usage }) => usage.othersPercent) / runs.length),
    ],
    usage: { count: total('delivered'), each: 'delivery', processes },
  };
}
