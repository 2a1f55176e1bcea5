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
