import { align } from '@webhooks/testkit/account';
import type { ProcessUsage } from './measure/usage.js';

/** What a figure is compared with. */
export interface Bar {
  readonly kind: 'at most' | 'at least';
  readonly value: number;
}

export const atMost = (value: number): Bar => ({ kind: 'at most', value });
export const atLeast = (value: number): Bar => ({ kind: 'at least', value });
export const figure = (name: string, value: number, unit: string, bar?: Bar) =>
  ({ name, value, unit, bar }) as const;
export type Figure = ReturnType<typeof figure>;

/** What a measurement has shown. */
export interface Shown {
  /** The ledger in one line. */
  readonly ledger: string;
  readonly figures: readonly Figure[];
  /** By process, for each of so many (deliveries, attempts). */
  readonly usage?: {
    readonly count: number;
    readonly each: string;
    readonly processes: readonly ProcessUsage[];
  };
}

export interface RunReport extends Shown {
  readonly scenario: string;
  /** Which run of the scenario, in words. */
  readonly run: string;
}

/** A void run has a reason and no figure. */
export interface VoidReport {
  readonly scenario: string;
  readonly run: string;
  readonly why: string;
}

/** `met` or `missed`; empty where there is no bar. A value that is no number misses. */
export function verdictOf({ value, bar }: Pick<Figure, 'value' | 'bar'>): 'met' | 'missed' | '' {
  if (!bar) return '';
  return (bar.kind === 'at most' ? value <= bar.value : value >= bar.value) ? 'met' : 'missed';
}

/** Three digits that matter: 0.042, 4.21, 42.1, 421, 4,210. */
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

/** One run: its title, its ledger, its figures with unit, bar and verdict, and what each process used. */
export function formatRun({ scenario, run, ledger, figures, usage }: RunReport): readonly string[] {
  const figureRows = figures.map((one) => [
    `  ${one.name}`,
    formatNumber(one.value),
    one.unit,
    barText(one),
    verdictOf(one),
  ]);
  const usageRows = usage
    ? [
        [`    for each ${usage.each}`, 'CPU µs', 'MiB at most'],
        ...usage.processes.map(({ name, cpuMicros, peakMib }) => [
          `    ${name}`,
          formatNumber(cpuMicros / usage.count),
          formatNumber(peakMib),
        ]),
      ]
    : [];
  return ['', `${scenario}: ${run}`, `  ${ledger}`, ...align(figureRows, [1]), ...align(usageRows, [1, 2])];
}

/** The closing lines: every bar once more, so that nobody has to look for them, and what is void. */
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
