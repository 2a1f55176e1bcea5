import type { Ask } from '@webhooks/mongodb';
import type { PlaceRange } from './access-path.js';
import type { DeliveryEntry } from './merge-entries.js';
import { isMilestone, toMilestoneRow } from './milestone-model.js';
import type { MilestoneModel, MilestoneRow } from './milestone-model.js';
import type { Direction } from './walk.js';
import { writeRows } from '../write-rows.js';

type AskMilestones = Ask<{ readonly milestones: MilestoneModel }>;

/** Notes the places of some deliveries. A hint, no more: too few or too many make a page slower or a window smaller. */
export async function addMilestones(ask: AskMilestones, entries: readonly DeliveryEntry[]): Promise<void> {
  const rows = entries
    .filter(({ deliveryId, attempt, cycle }) => attempt === 1 && cycle === '0' && isMilestone(deliveryId))
    .map(({ tenantId, deliveryId, at }) => toMilestoneRow(tenantId, deliveryId, at));
  if (rows.length === 0) return;
  const inserts = rows.map((document) => ({ insertOne: { document } }));
  await ask(({ milestones }) => writeRows(milestones.collection, inserts));
}

/** The place of the `count`th milestone of a range in the direction of a walk; undefined when it has fewer. */
export async function findMilestone(
  ask: AskMilestones,
  tenantId: string,
  { low, high }: PlaceRange,
  { direction, count }: { readonly direction: Direction; readonly count: number },
): Promise<string | undefined> {
  const [row] = await ask(({ milestones }) =>
    milestones
      .find({ tenantId, place: { $gte: low, $lt: high } }, { _id: 0, place: 1 })
      .sort({ place: direction === 'newest-first' ? -1 : 1 })
      .skip(count - 1)
      .limit(1)
      .lean<Pick<MilestoneRow, 'place'>[]>()
      .exec(),
  );
  return row?.place;
}
