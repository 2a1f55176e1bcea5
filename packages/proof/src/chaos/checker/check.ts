import { isHandled } from '../evidence/evidence.js';
import type { Evidence, Place } from '../evidence/evidence.js';
import { openCaseFile } from './case-file.js';
import type { Delivery, Finding, FindingKind } from './case-file.js';
import { checkChanges } from './check-changes.js';
import { checkContent, checkLog, checkStatements, checkTransactions } from './check-content.js';
import { checkFates } from './check-fates.js';
import { checkRepeats, checkSchedule } from './check-attempts.js';

/** Kinds of findings of an upgrade alone; `upgrade.md` says what they mean. */
type UpgradeFindingKind = 'failed-call' | 'costly-switch' | 'not-pulled';

/** A finding in words. */
export interface ReportedFinding {
  readonly kind: FindingKind | UpgradeFindingKind;
  readonly text: string;
  /** Only for the first two findings of a kind that concern a delivery. */
  readonly timeline?: readonly string[];
}

/** Maximum number of timelines for each kind of finding. All findings are counted. */
const TIMELINES = 2;

/** Lines of one timeline, at most: half of them from its beginning, half from its end. */
const MOST_LINES = 16;
/** A fault so close to the last moment of a timeline may be related to it. */
const NEAR_MS = 2_000;

/** Every moment at which the delivery was seen, oldest first. */
function momentsOf({ sent, copies, tasks, entries, dead, arrivals }: Delivery, { topics }: Evidence) {
  const at = ({ topic, partition, offset }: Place): string => `${topic}/${partition} offset ${offset}`;
  const handledAt = (place: Place): string =>
    `${at(place)}, ${isHandled(topics, place) ? 'handled' : 'not handled'}`;
  const moments: (readonly [at: number, what: string])[] = [
    [sent.sentAt, `sent to ${sent.ingress}`],
    [sent.acceptedAt ?? sent.sentAt, sent.acceptedAt === undefined ? 'not accepted' : 'accepted'],
    ...copies.map((place) => [place.appendedAt, `event at ${handledAt(place)}`] as const),
    ...tasks.map(
      ({ place, attempt }) => [place.appendedAt, `attempt ${attempt} waits at ${handledAt(place)}`] as const,
    ),
    ...entries.map(
      ({ entry, place }) => [entry.at, `${entry.kind} ${entry.attempt}, reported at ${at(place)}`] as const,
    ),
    ...dead.map(({ place, reason }) => [place.appendedAt, `dead (${reason}) at ${at(place)}`] as const),
    ...arrivals.map(
      ({ receivedAt, path, attempt, status }) =>
        [receivedAt, `attempt ${attempt} arrived at ${path}, response ${status || 'broken'}`] as const,
    ),
  ];
  return moments.sort(([a], [b]) => a - b);
}

/** Returns the timeline of one delivery: when and where it was seen, and the faults around the last moment. */
function timelineOf(delivery: Delivery, evidence: Evidence): readonly string[] {
  const moments = momentsOf(delivery, evidence);
  const lines = moments.map(([at, what]) => `${new Date(at).toISOString()} ${what}`);
  const lastAt = moments.at(-1)?.[0] ?? 0;
  const faults = evidence.steps
    .filter(({ startedAt, endedAt }) => startedAt <= lastAt + NEAR_MS && endedAt >= lastAt - NEAR_MS)
    .map(({ fault, target }) => `${fault} ${target}`);
  const half = MOST_LINES / 2;
  const middle = lines.length > MOST_LINES ? [`… ${lines.length - MOST_LINES} more …`] : [];
  return [
    ...lines.slice(0, half),
    ...middle,
    ...lines.slice(half).slice(-half),
    `faults around the last moment: ${faults.join(', ') || 'none'}`,
  ];
}

const checkSteps = ({ steps }: Evidence): readonly Finding[] =>
  steps
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ fault, target, why }) => ({ kind: 'not-restored', text: `${fault} ${target}: ${why ?? ''}` }));

function reportAll(findings: readonly Finding[], evidence: Evidence): readonly ReportedFinding[] {
  const byKind = Map.groupBy(findings, ({ kind }) => kind);
  return [...byKind.values()].flatMap((own) =>
    own.map(({ kind, text, delivery }, index) => {
      if (!delivery) return { kind, text };
      const named = `${delivery.sent.event.id} for ${delivery.configuration.path}: ${text}`;
      return index < TIMELINES
        ? { kind, text: named, timeline: timelineOf(delivery, evidence) }
        : { kind, text: named };
    }),
  );
}

/** Compares all evidence. Pure: the same evidence gives the same verdict. */
export function check(evidence: Evidence) {
  const file = openCaseFile(evidence);
  const fates = checkFates(file, evidence);
  const { repeats, findings } = checkRepeats(file, evidence);
  const all = [
    ...fates.findings,
    ...checkContent(file, evidence),
    ...checkSchedule(file, evidence),
    ...findings,
    ...checkChanges(file, evidence),
    ...checkLog(file, evidence),
    ...checkTransactions(evidence),
    ...checkStatements(file, evidence),
    ...checkSteps(evidence),
  ];
  return {
    /** `repeats`: further 2xx of deliveries that had one. */
    totals: { ...fates.totals, repeats },
    findings: reportAll(all, evidence),
  };
}
export type Verdict = ReturnType<typeof check>;
