import type { SeedRun } from '../campaign.js';
import type { Verdict } from './checker/check.js';
import type { ChaosResult } from './run-chaos.js';
import type { DoneStep } from './plan.js';

/** Lists the number of SIGKILLs by process. */
const killsOf = (killed: readonly string[]): string =>
  [...Map.groupBy(killed, (name) => name)].map(([name, own]) => `${name} ${own.length}`).join(', ');

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A line for each fault that was reached: how often, and the longest time until its target had recovered. */
function faultLines(steps: readonly DoneStep[]): readonly string[] {
  const byFault = [...Map.groupBy(steps, ({ fault }) => fault)].sort(([a], [b]) => a.localeCompare(b));
  return byFault.map(([fault, own]) => {
    const done = own.filter(({ outcome }) => outcome !== 'passed-over');
    const longest = seconds(Math.max(0, ...done.map(({ startedAt, endedAt }) => endedAt - startedAt)));
    const passed = own.length > done.length ? `, passed over ${own.length - done.length}` : '';
    return `  ${fault.padEnd(26)} ${String(done.length).padStart(3)} times, ${longest} at most${passed}`;
  });
}

const MOST_FINDINGS = 20;

function findingLines({ findings }: Verdict): readonly string[] {
  if (findings.length === 0) return [];
  const counts = [...Map.groupBy(findings, ({ kind }) => kind)].map(
    ([kind, own]) => `  ${kind}: ${own.length}`,
  );
  const lines = findings
    .filter(({ timeline }, index) => timeline !== undefined || index < MOST_FINDINGS)
    .slice(0, MOST_FINDINGS)
    .flatMap(({ kind, text, timeline = [] }) => [
      `${kind}: ${text}`,
      ...timeline.map((line) => `    ${line}`),
    ]);
  return ['', `findings: ${findings.length}`, ...counts, '', ...lines];
}

/** Formats the findings, and the delivery account in one line. */
export function formatVerdict(verdict: Verdict): readonly string[] {
  const { acceptedEvents, repeats, slowestMs, recoveryMs, ...fates } = verdict.totals;
  return [
    ...findingLines(verdict),
    '',
    `recovery=${seconds(recoveryMs)} events=${acceptedEvents} repeats=${repeats} slowest=${seconds(slowestMs)}`,
    Object.entries(fates)
      .map(([name, count]) => `${name}=${count}`)
      .join(' '),
  ];
}

/** Formats the closing lines: the faults and the verdict. */
export const formatReport = ({ steps, verdict, killed }: ChaosResult): readonly string[] => [
  ...['', 'faults', ...faultLines(steps)],
  `kills: ${killed.length} (${killsOf(killed)})`,
  ...formatVerdict(verdict),
];

const row = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;

/** Formats the results of several runs as Markdown, with the command that repeats them. */
export function formatCampaign(
  runs: readonly SeedRun<ChaosResult>[],
  command: string,
  machine: string,
): string {
  const results = runs.flatMap(({ result, ...about }) => (result ? [{ ...result, ...about }] : []));
  const tables = results.map(({ killed, steps, verdict: { totals, findings } }) => ({
    kills: killed.length,
    faults: steps.filter(({ outcome }) => outcome === 'done').length,
    ...totals,
    findings: findings.length,
  }));
  const names = Object.keys(tables[0] ?? {}) as (keyof (typeof tables)[number])[];
  /** The longest of several times wins; counts are added up. */
  const all = names.map((name) => {
    const values = tables.map((table) => table[name]);
    return name.endsWith('Ms') ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
  });
  return [
    ...['```sh', command, '```', ''],
    `${runs.filter(({ passed }) => passed).length} of ${runs.length} runs passed, on ${machine}.`,
    ...runs.filter(({ result }) => !result).map(({ seed }) => `Seed ${seed} has no verdict.`),
    ...['', row(['seed', 'passed', ...names]), row(['---', '---', ...names.map(() => '---')])],
    ...results.map(({ seed, passed }, index) => row([seed, passed, ...Object.values(tables[index] ?? {})])),
    row(['all', '', ...all]),
    ...['', `Kills: ${killsOf(results.flatMap(({ killed }) => killed))}`, ''],
  ].join('\n');
}
