import { describeMachine, describeVersions } from '@webhooks/ledger';
import type { StormRun } from '../storm.js';
import { countFaults, countKills } from './report.js';

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

const HEAD = [
  'seed',
  ...['kills', 'other faults', 'events', 'accepted', 'delivered', 'waiting', 'dead', 'cancelled', 'lost'],
  ...['repeats', 'at most', 'recovery, s', 'findings'],
];

function cellsOf({ seed, result }: StormRun): readonly number[] {
  const { acceptedEvents, accepted, delivered, waiting, dead, cancelled, lost, repeats, bound } =
    result.verdict.totals;
  const others = result.steps.filter(
    ({ fault, outcome }) => outcome === 'done' && !fault.startsWith('kill'),
  ).length;
  return [
    ...[seed, result.killed.length, others, acceptedEvents, accepted, delivered, waiting, dead, cancelled],
    ...[lost, repeats, bound, Number(seconds(result.recoveryMs)), result.verdict.findings.length],
  ];
}

/** Sums of all but the seed and the recovery, of which the longest counts. */
function sumOf(rows: readonly (readonly number[])[]): readonly (string | number)[] {
  const recovery = HEAD.indexOf('recovery, s');
  return HEAD.map((_name, column) => {
    const values = rows.map((cells) => cells[column] ?? 0);
    if (column === 0) return 'all';
    return column === recovery ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0);
  });
}

const killLines = (runs: readonly StormRun[]): readonly string[] =>
  Object.entries(countKills(runs.flatMap(({ result }) => result.killed)))
    .sort(([, one], [, other]) => other - one)
    .map((cells) => row(cells));

const faultLines = (runs: readonly StormRun[]): readonly string[] =>
  countFaults(runs.flatMap(({ result }) => result.steps)).map(({ fault, done, passedOver, longestMs }) =>
    row([fault, done, passedOver, seconds(longestMs)]),
  );

const table = (head: readonly string[], lines: readonly string[]): readonly string[] => [
  row(head),
  row(head.map(() => '---')),
  ...lines,
];

/** The page of several runs, in Markdown. `options` make the same runs again. */
export function formatCampaign(runs: readonly StormRun[], options: string): string {
  const rows = runs.map(cellsOf);
  return [
    ...['```sh', `npm run chaos -- ${options}`, '```', ''],
    `On ${new Date().toISOString().slice(0, 10)}: ${JSON.stringify({ ...describeMachine(), ...describeVersions() })}`,
    '',
    ...table(HEAD, [...rows.map(row), row(sumOf(rows))]),
    '',
    ...table(['process', 'kills'], killLines(runs)),
    '',
    ...table(['fault', 'done', 'passed over', 'longest, s'], faultLines(runs)),
    '',
  ].join('\n');
}
