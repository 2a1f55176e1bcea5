import { TOPICS } from '@webhooks/contracts';
import { IN_FORCE_MS } from '@webhooks/testkit/account';
import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import type { Delivery } from './case-file.js';
import type { DoneStep } from '../plan.js';

/**
 * What the service promised for a delivery. `owed`: it has to be delivered, waiting or dead. `may-end`: its configuration was disabled
 * later, so it may also be cancelled, or never begin. `nothing`: its event was neither accepted nor is it on the topic, or it is uncertain
 * whether the configuration was in force. An event on the topic without an acknowledgement is owed like any other, because the service does
 * not know whether its sender repeats it.
 */
type Promised = 'owed' | 'may-end' | 'nothing';

/** Whether a change requests to disable its configuration. */
export const isDisabling = ({ requested }: Change): boolean => requested.what === 'disable';

/** Enable and disable changes by ref, oldest first. */
export type Toggles = ReadonlyMap<string, readonly Change[]>;

export const findToggles = (changes: readonly Change[]): Toggles =>
  Map.groupBy(
    changes.filter(({ requested }) => requested.what === 'disable' || requested.what === 'enable'),
    ({ ref }) => ref,
  );

/** Whether an enable was certainly in force when the event was sent, and no disable was requested in between. */
function wasEnabled(toggles: readonly Change[], sentAt: number): boolean {
  const before = toggles.filter(({ requestedAt }) => requestedAt <= sentAt);
  const last = before.at(-1);
  if (!last) return true; // enabled since its registration
  if (isDisabling(last)) return false;
  return isMade(last) && last.respondedAt + IN_FORCE_MS <= sentAt;
}

/** Returns what the service promised for a delivery. */
export function promisedFor(
  { sent, configuration, copies }: Pick<Delivery, 'sent' | 'configuration' | 'copies'>,
  toggles: Toggles,
): Promised {
  if (sent.acceptedAt === undefined && copies.length === 0) return 'nothing';
  const own = toggles.get(configuration.ref) ?? [];
  if (!wasEnabled(own, sent.sentAt)) return 'nothing';
  return own.some((change) => isDisabling(change) && change.requestedAt > sent.sentAt) ? 'may-end' : 'owed';
}

/**
 * Processes, and their links, whose faults do not affect a worker's group and commits; also as `config-api-2`. An event that an ingress
 * wrote twice is a second copy on the topic, which is counted separately.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(['config-api', 'ingest', 'query-api', 'mongodb']);

/**
 * Returns the steps that may have hit a worker, a process that a worker needs, or one of these targets. A step that was passed over hit
 * nothing, so it is left out.
 */
export const findDisturbances = (steps: readonly DoneStep[], ...targets: string[]): readonly DoneStep[] =>
  steps.filter(
    ({ track, target, outcome }) =>
      outcome !== 'passed-over' &&
      (targets.includes(target) || (track === 'system' && !ELSEWHERE.has(target.replace(/-\d+$/, '')))),
  );

/** Without faults an event is read well within this time: a fetch and a fan-out, on a loaded machine. */
const READ_MS = 5_000;
/** A killed worker belongs to its group for up to 6 s. Then its partitions are reassigned. */
const RECOVERY_MS = 11_000;

/** Faults of these topics delay events, slices or webhooks on their way to a worker. They cause no repeats. */
const READ_FROM = [TOPICS.events, TOPICS.fanOuts, TOPICS.configurations];

/** Returns the time by which an event was certainly read, despite the faults meanwhile; Unix milliseconds. */
function readBy(appendedAt: number, steps: readonly DoneStep[]): number {
  let by = appendedAt + READ_MS;
  for (const { startedAt, endedAt } of steps.toSorted((a, b) => a.startedAt - b.startedAt))
    if (startedAt <= by) by = Math.max(by, endedAt + RECOVERY_MS);
  return by;
}

/**
 * Whether a delivery without any report may never have begun, because its configuration was disabled before the event was read. A later
 * disable is no excuse. Once there is a task, its end is always reported.
 */
export function mayNeverHaveBegun(
  { sent: { sentAt }, configuration, copies, tasks }: Delivery,
  toggles: Toggles,
  steps: readonly DoneStep[],
): boolean {
  const last = copies.at(-1);
  if (!last || tasks.length > 0) return false;
  const until = readBy(last.appendedAt, findDisturbances(steps, ...READ_FROM));
  const own = toggles.get(configuration.ref) ?? [];
  return own.some(
    (change) => isDisabling(change) && change.requestedAt > sentAt && change.requestedAt <= until,
  );
}
