import { IN_FORCE_MS } from '@webhooks/testkit/account';
import type { EntrySeen, Evidence } from '../evidence/evidence.js';
import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import { fateOf, isSuccess } from './case-file.js';
import type { CaseFile, Delivery, Finding, Fate } from './case-file.js';
import { mayNeverHaveBegun, findToggles, isDisabling, promisedFor } from './owed.js';
import type { Toggles } from './owed.js';

type Heading = Exclude<Fate, 'none'> | 'lost';

/** Whether a worker may have seen it disabled at this time: a disabling was requested before, and no enabling behind it is in force. */
function mayBeDisabled(toggles: readonly Change[], at: number): boolean {
  const before = toggles.filter(({ requestedAt }) => requestedAt <= at);
  const enabled = before.findLastIndex(
    (change) => !isDisabling(change) && isMade(change) && change.respondedAt + IN_FORCE_MS <= at,
  );
  return before.slice(enabled + 1).some(isDisabling);
}

/** A cancellation needs a disabling that a worker may have seen at that time. */
const isExcused = ({ entry }: EntrySeen, toggles: readonly Change[]): boolean =>
  entry.kind !== 'cancelled' || (entry.reason === 'disabled' && mayBeDisabled(toggles, entry.at));

/** Under which heading a delivery counts that was promised something. */
function headingOf(delivery: Delivery, fate: Fate, toggles: Toggles, steps: Evidence['steps']): Heading {
  if (fate !== 'none' && fate !== 'cancelled') return fate;
  const own = toggles.get(delivery.configuration.ref) ?? [];
  const mayEnd =
    fate === 'none'
      ? mayNeverHaveBegun(delivery, toggles, steps)
      : delivery.entries.every((seen) => isExcused(seen, own));
  return mayEnd && promisedFor(delivery, toggles) === 'may-end' ? 'cancelled' : 'lost';
}

/** The endpoint was well all the time. */
const wasWell = ({ configuration }: Delivery): boolean => configuration.receiver === 'steady';

function findingFor(delivery: Delivery, heading: Heading, fate: Fate): Finding | undefined {
  if (heading === 'lost') {
    const text = fate === 'cancelled' ? 'was cancelled though it was not disabled then' : 'is nowhere';
    return { kind: 'lost', text, delivery };
  }
  if (heading === 'waiting' || (heading === 'dead' && wasWell(delivery)))
    return { kind: 'not-recovered', text: `is ${heading} though its endpoint is well`, delivery };
  return undefined;
}

/** The longest times of deliveries to endpoints that were well. */
function timesOf(deliveries: readonly Delivery[], { steps }: Evidence) {
  const calmAt = Math.max(0, ...steps.map(({ takenBackAt }) => takenBackAt));
  let [slowestMs, recoveryMs] = [0, 0];
  for (const { arrivals, sent, copies } of deliveries) {
    const first = arrivals.find(isSuccess)?.receivedAt;
    if (first === undefined) continue;
    slowestMs = Math.max(slowestMs, first - (sent.acceptedAt ?? copies[0]?.appendedAt ?? first));
    if (calmAt > 0) recoveryMs = Math.max(recoveryMs, first - calmAt);
  }
  return {
    /** The longest way from the acknowledgement, or the append of what had none, to the first 2xx, milliseconds. */
    slowestMs: Math.round(slowestMs),
    /** From the end of the last fault to the last first 2xx, milliseconds. */
    recoveryMs: Math.round(recoveryMs),
  };
}

/**
 * accepted, or on the topic ⊆ delivered ∪ waiting ∪ dead ∪ cancelled, delivery by delivery. In the end all endpoints are well:
 * then nothing waits, and what goes to one that was well all the time is delivered.
 */
export function checkFates({ deliveries }: CaseFile, evidence: Evidence) {
  const { sent, changes, steps, topics } = evidence;
  const toggles = findToggles(changes);
  /** `cancelled`: also never begun, because the configuration was disabled before the event was read. */
  const counts = { delivered: 0, waiting: 0, dead: 0, cancelled: 0, lost: 0 };
  const findings: Finding[] = [];
  const promised = [...deliveries.values()].filter((one) => promisedFor(one, toggles) !== 'nothing');
  for (const delivery of promised) {
    const fate = fateOf(delivery, topics);
    const heading = headingOf(delivery, fate, toggles, steps);
    counts[heading] += 1;
    const finding = findingFor(delivery, heading, fate);
    if (finding) findings.push(finding);
  }
  const acceptedEvents = [...sent.values()].filter(({ acceptedAt }) => acceptedAt !== undefined).length;
  const times = timesOf(promised.filter(wasWell), evidence);
  return {
    /** Events that were acknowledged; deliveries owed, also for those that stand on the topic without it; what became of these. */
    totals: { acceptedEvents, accepted: promised.length, ...counts, ...times },
    findings,
  };
}
