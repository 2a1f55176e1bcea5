import { TOPICS } from '@webhooks/contracts';
import type { DoneStep } from '../run-plan.js';
import type { Delivery } from './case-file.js';
import { findDisturbances } from './disturbances.js';
import { isDisabling } from './owed.js';
import type { Toggles } from './owed.js';

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
