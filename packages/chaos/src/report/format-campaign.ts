import { describeMachine, describeVersions } from '@webhooks/ledger';
import type { BrokenRun } from '../campaign.js';
import type { StormRun } from '../storm.js';
import { countFaults, countKills } from './report.js';

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

const HEAD = [
  'seed',
  'passed',
  ...['kills', 'other faults', 'events', 'accepted', 'delivered', 'waiting', 'dead', 'cancelled', 'lost'],
  ...['repeats', 'at most', 'recovery, s', 'findings'],
];

function cellsOf({ seed, passed, result }: StormRun): readonly number[] {
  const { acceptedEvents, accepted, delivered, waiting, dead, cancelled, lost, repeats, bound } =
    result.verdict.totals;
  const others = result.steps.filter(
    ({ fault, outcome }) => outcome === 'done' && !fault.startsWith('kill'),
  ).length;
  return [
    ...[
      seed,
      Number(passed),
      result.killed.length,
      others,
      acceptedEvents,
      accepted,
      delivered,
      waiting,
      dead,
      cancelled,
    ],
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

/** What was asked for: so many runs, with these options for the first of them. */
export interface Asked {
  readonly runs: number;
  readonly options: string;
}

/** The page of several runs, in Markdown; the command in it makes the same runs again. */
export function formatCampaign(all: readonly (StormRun | BrokenRun)[], asked: Asked): string {
  const runs = all.filter((run) => 'result' in run);
  const broken = all.filter((run) => 'why' in run);
  const rows = runs.map(cellsOf);
  const passed = runs.filter((run) => run.passed).length;
  return [
    ...['```sh', `npm run chaos -- ${asked.options} --seeds ${asked.runs}`, '```', ''],
    `${passed} of ${asked.runs} runs passed.`,
    ...broken.map(({ seed, why }) => `Seed ${seed} came to no verdict: ${why}`),
    '',
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
