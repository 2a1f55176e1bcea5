import type { Ask } from '@webhooks/mongodb';
import type { PlaceRange } from './access-path.js';
import type { DeliveryEntry } from './merge-entries.js';
import { COARSE, FINE, milestonesOf } from './milestone-model.js';
import type { MilestoneModel, MilestoneRow } from './milestone-model.js';
import { cut } from './walk.js';
import type { Direction } from './walk.js';
import { writeRows } from '../write-rows.js';

type AskMilestones = Ask<{ readonly milestones: MilestoneModel }>;

/** Notes the places of some deliveries. A hint, no more: too few or too many make a page slower or a window smaller. */
export async function addMilestones(ask: AskMilestones, entries: readonly DeliveryEntry[]): Promise<void> {
  const rows = entries
    .filter(({ attempt, cycle }) => attempt === 1 && cycle === '0')
    .flatMap(({ tenantId, deliveryId, at }) => milestonesOf(tenantId, deliveryId, at));
  if (rows.length === 0) return;
  const inserts = rows.map((insert) => ({ insert }));
  await ask(({ milestones }) => writeRows(milestones.collection, inserts));
}

interface Wanted {
  readonly every: MilestoneRow['every'];
  readonly direction: Direction;
  /** From 1. */
  readonly count: number;
}

async function findOf(
  ask: AskMilestones,
  tenantId: string,
  { low, high }: PlaceRange,
  { every, direction, count }: Wanted,
): Promise<string | undefined> {
  const [row] = await ask(({ milestones }) =>
    milestones
      .find({ tenantId, every, place: { $gte: low, $lt: high } }, { _id: 0, place: 1 })
      .sort({ place: direction === 'newest-first' ? -1 : 1 })
      .skip(count - 1)
      .limit(1)
      .lean<Pick<MilestoneRow, 'place'>[]>()
      .exec(),
  );
  return row?.place;
}

/** Fine milestones between two coarse ones. */
const FINE_OF_COARSE = COARSE / FINE;
/** Behind the second coarse one there are 64 fine ones or more, mostly. */
const NEAR = 2;

/**
 * A place some `count` fine milestones into a range in the direction of a walk; undefined when it has fewer. A database that
 * loads every match before it skips loads few: the coarse milestones of the range, and the fine ones near its end.
 */
export async function findMilestone(
  ask: AskMilestones,
  tenantId: string,
  range: PlaceRange,
  { direction, count }: { readonly direction: Direction; readonly count: number },
): Promise<string | undefined> {
  const coarseCount = Math.max(NEAR, Math.round(count / FINE_OF_COARSE));
  const coarse = await findOf(ask, tenantId, range, { every: COARSE, direction, count: coarseCount });
  if (count >= FINE_OF_COARSE) return coarse;
  const near = cut(range, direction, coarse);
  return (await findOf(ask, tenantId, near, { every: FINE, direction, count })) ?? coarse;
}
