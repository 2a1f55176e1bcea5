import type { SpanUsage } from '../measure/usage-span.js';
import type { Figure, RunReport, VoidReport } from './figure.js';
import { verdictOf } from './figure.js';

const MIB = 1_048_576;

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

/** Columns side by side: the first one to the left, numbers to the right where `right` says so. */
function align(rows: readonly (readonly string[])[], right: readonly boolean[]): readonly string[] {
  const widths = right.map((_, column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    right
      .map((isRight, column) => {
        const cell = row[column] ?? '';
        return isRight ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
      })
      .join('  ')
      .trimEnd(),
  );
}

const figureRow = (figure: Figure): readonly string[] => [
  `  ${figure.name}`,
  formatNumber(figure.value),
  figure.unit,
  barText(figure),
  verdictOf(figure) ?? '',
];

const usageRow = (deliveries: number, usage: SpanUsage): readonly string[] => [
  `    ${usage.name}`,
  formatNumber(usage.cpuMicros / deliveries),
  formatNumber(usage.grownBytes / deliveries),
  formatNumber(usage.rssBytes / MIB),
  formatNumber(usage.peakBytes / MIB),
];

const usageHead = (each = 'delivery'): readonly string[] => [
  `    for each ${each}`,
  'CPU µs',
  'bytes',
  'MiB at the end',
  'MiB at most',
];

/** One run: its title, its ledger, its figures with unit, bar and verdict, and what each process used. */
export function formatRun({ scenario, run, ledger, figures, usage }: RunReport): readonly string[] {
  const rows = usage
    ? [usageHead(usage.each), ...usage.processes.map((process) => usageRow(usage.deliveries, process))]
    : [];
  return [
    '',
    `${scenario}: ${run}`,
    ...(ledger === undefined ? [] : [`  ${ledger}`]),
    ...align(figures.map(figureRow), [false, true, false, false, false]),
    ...align(rows, [false, true, true, true, true]),
  ];
}

/** A void run has a reason and no figure. */
export const formatVoid = ({ scenario, run, why }: VoidReport): readonly string[] => [
  '',
  `${scenario}: ${run}`,
  `  void: ${why}`,
];

interface BarredFigure {
  readonly scenario: string;
  readonly title: string;
  readonly figure: Figure;
}

/** How far a figure is on the wrong side of its bar; more is worse. */
const badness = ({ value, bar }: Figure): number => (bar?.kind === 'at least' ? -value : value);

function barredFigures(reports: readonly RunReport[]): readonly BarredFigure[] {
  const barred = reports.flatMap(({ scenario, run, figures }) =>
    figures.flatMap((figure) => (figure.bar ? [{ scenario, title: `${scenario}: ${run}`, figure }] : [])),
  );
  const worst = new Map<string, BarredFigure>();
  for (const one of barred.filter(({ figure }) => figure.worstOnly)) {
    const key = `${one.scenario} ${one.figure.name}`;
    const known = worst.get(key);
    if (!known || badness(one.figure) > badness(known.figure)) worst.set(key, one);
  }
  const kept = new Set(worst.values());
  return barred.filter((one) => one.figure.worstOnly !== true || kept.has(one));
}

/** The closing lines: every bar once more, so that nobody has to look for them, and what is void. */
export function formatSummary(
  reports: readonly RunReport[],
  voids: readonly VoidReport[],
): readonly string[] {
  const barred = barredFigures(reports);
  const missed = barred.filter(({ figure }) => verdictOf(figure) === 'missed').length;
  const rows = barred.map(({ title, figure }) => [
    `  ${verdictOf(figure) ?? ''}`,
    title,
    figure.name,
    `${formatNumber(figure.value)} ${figure.unit}`.trimEnd(),
    barText(figure),
  ]);
  return [
    '',
    `bars: ${barred.length - missed} met, ${missed} missed; void runs: ${voids.length}`,
    ...align(rows, [false, false, false, true, false]),
    ...voids.map(({ scenario, run, why }) => `  void    ${scenario}: ${run}: ${why}`),
  ];
}
