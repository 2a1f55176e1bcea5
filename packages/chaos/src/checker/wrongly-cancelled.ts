import type { EntrySeen } from '../evidence/evidence.js';
import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import { IN_FORCE_MS } from '../in-force.js';
import type { Delivery } from './case-file.js';
import { isDisabling } from './owed.js';
import type { Toggles } from './owed.js';
import { toldAt } from './wrong-clock.js';

/** Whether a worker may have seen it disabled at this time: a disabling was asked for before, and no enabling behind it is in force. */
function mayBeDisabled(toggles: readonly Change[], at: number): boolean {
  const before = toggles.filter(({ askedAt }) => askedAt <= at);
  const enabled = before.findLastIndex(
    (change) => !isDisabling(change) && isMade(change) && change.answeredAt + IN_FORCE_MS <= at,
  );
  return before.slice(enabled + 1).some(isDisabling);
}

const isExcused = (seen: EntrySeen, toggles: readonly Change[]): boolean =>
  seen.entry.kind !== 'cancelled' ||
  (seen.entry.reason === 'disabled' && mayBeDisabled(toggles, toldAt(seen)));

/** Whether it was cancelled for another reason than a disabling, or at a time at which it was enabled for sure. */
export const wasWronglyCancelled = ({ entries, configuration }: Delivery, toggles: Toggles): boolean =>
  entries.some((seen) => !isExcused(seen, toggles.get(configuration.ref) ?? []));
