import { TOPICS } from '@webhooks/contracts';
import { IN_FORCE_MS } from '@webhooks/testkit/account';
import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import type { Delivery } from './case-file.js';
import type { DoneStep } from '../plan.js';

/**
 * What the service promised for a delivery. `owed`: it has to be delivered, or wait, or be dead. `may-end`: its
 * configuration was disabled since, so that it may also be cancelled, or never begun. `nothing`: it was neither accepted nor
 * does it stand on the topic, or it is uncertain whether a configuration was in force.
 *
 * An event that stands on the topic without an acknowledgement is owed like any other: the service does not know whether its sender
 * repeats it.
 */
type Promised = 'owed' | 'may-end' | 'nothing';

/** Whether it requests that nothing be delivered any more. */
export const isDisabling = ({ requested }: Change): boolean => requested.what === 'disable';

/** Changes of whether a configuration is enabled, by ref, oldest first. */
export type Toggles = ReadonlyMap<string, readonly Change[]>;

export const findToggles = (changes: readonly Change[]): Toggles =>
  Map.groupBy(
    changes.filter(({ requested }) => requested.what === 'disable' || requested.what === 'enable'),
    ({ ref }) => ref,
  );

/** Whether an enabling was certainly in force when the event was sent, and no disabling was requested in between. */
function wasEnabled(toggles: readonly Change[], sentAt: number): boolean {
  const before = toggles.filter(({ requestedAt }) => requestedAt <= sentAt);
  const last = before.at(-1);
  if (!last) return true; // as it was registered
  if (isDisabling(last)) return false;
  return isMade(last) && last.respondedAt + IN_FORCE_MS <= sentAt;
}

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
 * Processes that no delivery depends on, and their links: whatever becomes of them, a worker's group and commits stay. An
 * event that an ingress wrote twice is a copy on the topic, which counts of its own.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(['config-api', 'ingest', 'query-api', 'mongodb']);

/** What may have hit a worker, or what a worker needs, or one of these targets. What was passed over found nothing to hit: it excuses nothing. */
export const findDisturbances = (steps: readonly DoneStep[], ...targets: string[]): readonly DoneStep[] =>
  steps.filter(
    ({ track, target, outcome }) =>
      outcome !== 'passed-over' &&
      (targets.includes(target) || (track === 'system' && !ELSEWHERE.has(target))),
  );

/** An event is read long before that when nothing is broken: a fetch, and a fan-out, on a loaded machine. */
const READ_MS = 5_000;
/** A worker that was killed belongs to its group for 6 s at most; then its partitions change hands. */
const RECOVERY_MS = 11_000;

/** What is done to these topics keeps events, slices or webhooks from a worker for a while, and makes nothing come again. */
const READ_FROM = [TOPICS.events, TOPICS.fanOuts, TOPICS.configurations];

/** By when an event was certainly read, whatever was broken meanwhile; Unix milliseconds. */
function readBy(appendedAt: number, steps: readonly DoneStep[]): number {
  let by = appendedAt + READ_MS;
  for (const { startedAt, endedAt } of steps.toSorted((a, b) => a.startedAt - b.startedAt))
    if (startedAt <= by) by = Math.max(by, endedAt + RECOVERY_MS);
  return by;
}

/**
 * Whether a delivery of which nothing is reported may never have begun: its configuration was disabled by the time the event was
 * read. A disabling that was requested later excuses nothing, and once there is a task, its end is reported.
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
