import { IN_FORCE_MS } from '@webhooks/testkit/account';
import type { EntrySeen, Evidence } from '../evidence/evidence.js';
import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import { fateOf, isSuccess } from './case-file.js';
import type { CaseFile, Delivery, Finding, Fate } from './case-file.js';
import { mayNeverHaveBegun, findToggles, isDisabling, promisedFor } from './owed.js';
import type { Toggles } from './owed.js';

type TotalName = Exclude<Fate, 'none'> | 'lost';

/**
 * Whether a worker may have seen the configuration as disabled at this time: a disable was requested before, and no later enable was in
 * force.
 */
function mayBeDisabled(toggles: readonly Change[], at: number): boolean {
  const before = toggles.filter(({ requestedAt }) => requestedAt <= at);
  const enabled = before.findLastIndex(
    (change) => !isDisabling(change) && isMade(change) && change.respondedAt + IN_FORCE_MS <= at,
  );
  return before.slice(enabled + 1).some(isDisabling);
}

/** Whether an entry is no cancellation, or one at a time when a worker may have seen the configuration as disabled. */
const isExcused = ({ entry }: EntrySeen, toggles: readonly Change[]): boolean =>
  entry.kind !== 'cancelled' || (entry.reason === 'disabled' && mayBeDisabled(toggles, entry.at));

/** Returns the total in which a promised delivery counts. */
function totalOf(delivery: Delivery, fate: Fate, toggles: Toggles, steps: Evidence['steps']): TotalName {
  if (fate !== 'none' && fate !== 'cancelled') return fate;
  const own = toggles.get(delivery.configuration.ref) ?? [];
  const mayEnd =
    fate === 'none'
      ? mayNeverHaveBegun(delivery, toggles, steps)
      : delivery.entries.every((seen) => isExcused(seen, own));
  return mayEnd && promisedFor(delivery, toggles) === 'may-end' ? 'cancelled' : 'lost';
}

/** Whether the endpoint was healthy during the whole run. */
const wasHealthy = ({ configuration }: Delivery): boolean => configuration.receiver === 'steady';

function findingFor(delivery: Delivery, total: TotalName, fate: Fate): Finding | undefined {
  if (total === 'lost') {
    const text = fate === 'cancelled' ? 'was cancelled while enabled' : 'is neither delivered nor waiting';
    return { kind: 'lost', text, delivery };
  }
  if (total === 'waiting' || (total === 'dead' && wasHealthy(delivery)))
    return { kind: 'not-recovered', text: `is ${total} although its endpoint is healthy`, delivery };
  return undefined;
}

/** Returns the longest times of deliveries to healthy endpoints. */
function timesOf(deliveries: readonly Delivery[], { steps }: Evidence) {
  const faultsEndedAt = Math.max(0, ...steps.map(({ takenBackAt }) => takenBackAt));
  let [slowestMs, recoveryMs] = [0, 0];
  for (const { arrivals, sent, copies } of deliveries) {
    const first = arrivals.find(isSuccess)?.receivedAt;
    if (first === undefined) continue;
    slowestMs = Math.max(slowestMs, first - (sent.acceptedAt ?? copies[0]?.appendedAt ?? first));
    if (faultsEndedAt > 0) recoveryMs = Math.max(recoveryMs, first - faultsEndedAt);
  }
  return {
    /** Longest time from the acknowledgement (else from the append to the topic) to the first 2xx, milliseconds. */
    slowestMs: Math.round(slowestMs),
    /** Time from the end of the last fault to the last of all first 2xx, milliseconds. */
    recoveryMs: Math.round(recoveryMs),
  };
}

/**
 * Checks each promised delivery, of an event that was accepted or is on the topic: it is delivered, waiting, dead or cancelled. At the end
 * all endpoints are healthy. Then nothing may wait, and no delivery to an always healthy endpoint may be dead.
 */
export function checkFates({ deliveries }: CaseFile, evidence: Evidence) {
  const { sent, changes, steps, topics } = evidence;
  const toggles = findToggles(changes);
  /** `cancelled` includes deliveries that never began, because the configuration was disabled before the event was read. */
  const counts = { delivered: 0, waiting: 0, dead: 0, cancelled: 0, lost: 0 };
  const findings: Finding[] = [];
  const promised = [...deliveries.values()].filter((one) => promisedFor(one, toggles) !== 'nothing');
  for (const delivery of promised) {
    const fate = fateOf(delivery, topics);
    const total = totalOf(delivery, fate, toggles, steps);
    counts[total] += 1;
    const finding = findingFor(delivery, total, fate);
    if (finding) findings.push(finding);
  }
  const acceptedEvents = [...sent.values()].filter(({ acceptedAt }) => acceptedAt !== undefined).length;
  const times = timesOf(promised.filter(wasHealthy), evidence);
  return {
    /**
     * `acceptedEvents`: acknowledged events. `accepted`: owed deliveries, also of unacknowledged events on the topic. Then their fates and
     * times.
     */
    totals: { acceptedEvents, accepted: promised.length, ...counts, ...times },
    findings,
  };
}
