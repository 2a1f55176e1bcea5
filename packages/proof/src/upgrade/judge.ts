import { check } from '../chaos/checker/check.js';
import type { ReportedFinding } from '../chaos/checker/check.js';
import { isSuccess, openCaseFile } from '../chaos/checker/case-file.js';
import type { CaseFile, Delivery } from '../chaos/checker/case-file.js';
import type { Evidence } from '../chaos/evidence/evidence.js';
import type { DoneStep } from '../chaos/plan.js';
import type { Switch } from './plan.js';

/** Longest pause of one partition's deliveries, milliseconds: a restart under its name takes 3 s at most, and 2 s are for a busy machine. */
const MAX_GAP_MS = 5_000;
/** Most repeats of one switch: what a worker has delivered and not yet committed, at 500 events a second. */
const MAX_REPEATS = 100;

/** All evidence of a run. */
export interface UpgradeEvidence extends Evidence {
  /** The switches that were made, and how many were planned. */
  readonly steps: readonly (DoneStep & Switch)[];
  readonly planned: number;
  /** A line of nginx for each call, which begins with the status. */
  readonly calls: readonly string[];
  /** Failures that callers saw of pulls and redeliveries. */
  readonly failures: readonly string[];
  readonly redelivered: ReadonlyMap<string, number>;
  /** Ids of the notifications that were pulled. */
  readonly pulled: ReadonlySet<string>;
  /** What the stack said when an instance ended by itself. */
  readonly ended: readonly string[];
}

const arrivedAt = ({ arrivals }: Delivery): readonly number[] =>
  arrivals.flatMap((one) => (isSuccess(one) ? [one.receivedAt] : [])).sort((a, b) => a - b);

/** Returns the pauses between successive first deliveries of each partition to steady receivers, while events were sent. */
function gapsOf({ deliveries }: CaseFile, { sent }: Evidence) {
  const lastSentAt = [...sent.values()].at(-1)?.sentAt ?? 0;
  const steady = [...deliveries.values()].filter(({ configuration }) => configuration.receiver === 'steady');
  const byPartition = Map.groupBy(steady, ({ copies: [copy] }) => copy?.partition);
  return [...byPartition.values()].flatMap((own) => {
    const times = own.flatMap((one) => arrivedAt(one).slice(0, 1)).sort((a, b) => a - b);
    const gaps = times.slice(1).map((to, index) => ({ from: times[index] ?? to, to }));
    return gaps.filter(({ from }) => from < lastSentAt);
  });
}

/** Returns what each switch cost until the next one began: the time until the other build was ready, the longest pause, repeats. */
function costsOf(file: CaseFile, evidence: UpgradeEvidence) {
  const { redelivered, steps } = evidence;
  const gaps = gapsOf(file, evidence);
  const repeats = [...file.deliveries.values()].flatMap((one) =>
    arrivedAt(one).slice(1 + (redelivered.get(one.deliveryId) ?? 0)),
  );
  return steps.map(({ service, instance, to, startedAt, endedAt }, index) => {
    const until = steps[index + 1]?.startedAt ?? Infinity;
    const own = gaps.filter((gap) => gap.to > startedAt && gap.from < until);
    return {
      ...{ service, instance, to, ms: endedAt - startedAt },
      gapMs: Math.round(own.reduce((longest, gap) => Math.max(longest, gap.to - gap.from), 0)),
      repeats: repeats.filter((at) => at >= startedAt && at < until).length,
    };
  });
}

/** Calls that failed, as nginx logged them or as their callers saw them; one call may be reported twice. */
const failedCalls = ({ calls, failures, sent, changes }: UpgradeEvidence): readonly string[] => [
  ...calls.filter((line) => !line.startsWith('2')),
  ...failures,
  ...[...sent.values()]
    .filter(({ ingress, acceptedAt }) => ingress === 'ingest' && acceptedAt === undefined)
    .map(({ event, sentAt }) => `ingest did not accept ${event.id}, sent at ${sentAt}`),
  ...changes.filter(({ respondedAt }) => respondedAt === undefined).map((one) => JSON.stringify(one)),
];

/** Compares all evidence of an upgrade: the delivery account of chaos, calls, pauses and repeats. Pure. */
export function judgeUpgrade(evidence: UpgradeEvidence) {
  const { sent, pulled, redelivered, ended, planned } = evidence;
  const { totals, findings } = check(evidence);
  const file = openCaseFile(evidence);
  const switches = costsOf(file, evidence);
  const costly = switches.filter(({ gapMs, repeats }) => gapMs > MAX_GAP_MS || repeats > MAX_REPEATS);
  const unpulled = [...sent].filter(([id, { acceptedAt }]) => acceptedAt !== undefined && !pulled.has(id));
  const lost = [...file.deliveries.values()].filter(
    (one) => arrivedAt(one).length <= (redelivered.get(one.deliveryId) ?? -1),
  );
  const missing = planned - switches.length;
  const found: readonly (readonly [ReportedFinding['kind'], readonly string[]])[] = [
    ['failed-call', failedCalls(evidence)],
    ['costly-switch', costly.map((one) => JSON.stringify(one))],
    ['not-pulled', unpulled.map(([id]) => `${id} was never pulled`)],
    ['lost', lost.map(({ deliveryId }) => `a redelivery of ${deliveryId} never arrived`)],
    ['not-restored', missing > 0 ? [...ended, `${missing} switches were not made`] : ended],
  ];
  const beyond = found.flatMap(([kind, texts]) => texts.map((text) => ({ kind, text })));
  return { verdict: { totals, findings: [...findings, ...beyond] }, switches };
}
