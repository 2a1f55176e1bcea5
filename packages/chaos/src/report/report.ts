import type { ChaosResult } from '../run-chaos.js';
import type { DoneStep } from '../run-plan.js';

/** SIGKILLs that were sent, by process. */
export const countKills = (killed: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(killed, (name) => name)].map(([name, own]) => [name, own.length]));

interface FaultRow {
  readonly fault: string;
  readonly done: number;
  readonly passedOver: number;
  /** Longest time until what was hit was up again, milliseconds. */
  readonly longestMs: number;
}

/** Each fault that was planned and reached: how often, and how long at most. */
export function countFaults(steps: readonly DoneStep[]): readonly FaultRow[] {
  const byFault = Map.groupBy(steps, ({ fault }) => fault);
  return [...byFault]
    .map(([fault, own]) => {
      const done = own.filter(({ outcome }) => outcome !== 'passed-over');
      const longestMs = Math.max(0, ...done.map(({ startedAt, endedAt }) => endedAt - startedAt));
      return { fault, done: done.length, passedOver: own.length - done.length, longestMs };
    })
    .sort((a, b) => a.fault.localeCompare(b.fault));
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function faultLines(steps: readonly DoneStep[]): readonly string[] {
  const rows = countFaults(steps);
  const width = Math.max(0, ...rows.map(({ fault }) => fault.length));
  return rows.map(({ fault, done, passedOver, longestMs }) => {
    const passed = passedOver > 0 ? `, passed over ${passedOver}` : '';
    return `  ${fault.padEnd(width)}  ${String(done).padStart(3)} times, ${seconds(longestMs)} at most${passed}`;
  });
}

const MOST_FINDINGS = 20;

function findingLines({ verdict: { findings } }: ChaosResult): readonly string[] {
  const byKind = Map.groupBy(findings, ({ kind }) => kind);
  const counts = [...byKind].map(([kind, own]) => `  ${kind}: ${own.length}`);
  const told = findings
    .filter(({ story }, index) => story !== undefined || index < MOST_FINDINGS)
    .slice(0, MOST_FINDINGS)
    .flatMap(({ kind, text, story = [] }) => [`${kind}: ${text}`, ...story.map((line) => `    ${line}`)]);
  return findings.length === 0 ? [] : ['', `findings: ${findings.length}`, ...counts, '', ...told];
}

/** The closing lines: a table of what was done, what was found, and the ledger in one line. */
export function formatReport(result: ChaosResult): readonly string[] {
  const { steps, recoveryMs, verdict } = result;
  const kills = Object.entries(countKills(result.killed));
  const { totals } = verdict;
  const { acceptedEvents, repeats, bound, slowestMs } = totals;
  const { accepted, delivered, waiting, dead, cancelled, lost } = totals;
  const total = kills.reduce((sum, [, count]) => sum + count, 0);
  return [
    '',
    'faults',
    ...faultLines(steps),
    `kills: ${total}${kills.length > 0 ? ` (${kills.map(([name, count]) => `${name} ${count}`).join(', ')})` : ''}`,
    ...findingLines(result),
    '',
    `recovery=${seconds(recoveryMs)} events=${acceptedEvents} repeats=${repeats} (bound ${bound}) slowest=${seconds(slowestMs)}`,
    `accepted=${accepted} delivered=${delivered} waiting=${waiting} dead=${dead} cancelled=${cancelled} lost=${lost}`,
  ];
}
