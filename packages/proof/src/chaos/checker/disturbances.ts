import { TOPICS } from '@webhooks/contracts';
import type { DoneStep } from '../run-plan.js';
import type { Delivery } from './case-file.js';
import { isDisabling } from './owed.js';
import type { Toggles } from './owed.js';

/**
 * Processes that no delivery depends on, and their links: whatever becomes of them, a worker's group and commits stay. An
 * event that a door wrote twice is a copy on the topic, which counts of its own.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(['config-api', 'ingest', 'query-api', 'mongodb']);

/** What may have hit a worker, or what a worker needs, or one of these targets. What was passed over found nothing to hit: it excuses nothing. */
export const findDisturbances = (steps: readonly DoneStep[], ...targets: string[]): readonly DoneStep[] =>
  steps.filter(
    ({ lane, target, outcome }) =>
      outcome !== 'passed-over' &&
      (targets.includes(target) || (lane === 'system' && !ELSEWHERE.has(target))),
  );

/** An event is read long before that when nothing is broken: a fetch, and a fan-out, on a loaded machine. */
const READ_MS = 5_000;
/** A worker that was killed belongs to its group for 6 s at most; then its partitions change hands. */
const RECOVERY_MS = 11_000;

/** What is done to these topics keeps events, slices or webhooks from a worker for a while, and makes nothing come again. */
const READ_FROM = [TOPICS.events, TOPICS.fanOuts, TOPICS.configurations];

/** Until when an event was read for sure, whatever was broken meanwhile; Unix milliseconds. */
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
