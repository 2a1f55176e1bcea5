import type { Change } from '../generator/changes.js';
import type { DoneStep } from '../run-plan.js';
import type { Delivery } from './case-file.js';
import { findHindrances } from './disturbances.js';
import { isDisabling } from './owed.js';
import type { Toggles } from './owed.js';

/** An event is read long before that when nothing is broken: a fetch, and a fan-out, on a loaded machine. */
const READ_MS = 5_000;
/** A worker that was killed belongs to its group for 10 s more; then its partitions change hands. */
const RECOVERY_MS = 15_000;

/** Until when an event was read for sure, whatever was broken meanwhile; Unix milliseconds. */
function readBy(appendedAt: number, steps: readonly DoneStep[]): number {
  let by = appendedAt + READ_MS;
  for (const { startedAt, endedAt } of steps.toSorted((a, b) => a.startedAt - b.startedAt))
    if (startedAt <= by) by = Math.max(by, endedAt + RECOVERY_MS);
  return by;
}

/**
 * Whether a configuration was disabled by the time an event was read that was sent to it: a disabling that was asked for
 * later excuses nothing. Times are Unix milliseconds, `hindrances` what may have held the workers up.
 */
export function mayEndUnread(
  { sentAt, appendedAt }: { readonly sentAt: number; readonly appendedAt: number },
  toggles: readonly Change[],
  hindrances: readonly DoneStep[],
): boolean {
  const until = readBy(appendedAt, hindrances);
  return toggles.some((change) => isDisabling(change) && change.askedAt > sentAt && change.askedAt <= until);
}

/**
 * Whether a delivery of which nothing is told may never have begun. Once there is a task, its end is told, also that it was
 * cancelled.
 */
export function mayNeverHaveBegun(
  { sent: { sentAt }, configuration, copies, tasks }: Delivery,
  toggles: Toggles,
  steps: readonly DoneStep[],
): boolean {
  const last = copies.at(-1);
  if (!last || tasks.length > 0) return false;
  const own = toggles.get(configuration.ref) ?? [];
  return mayEndUnread({ sentAt, appendedAt: last.appendedAt }, own, findHindrances(steps));
}
