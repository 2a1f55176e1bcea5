import { isDeepStrictEqual } from 'node:util';
import type { Ask } from '@webhooks/mongodb';
import { toDelivery, toRow } from './delivery-model.js';
import type { DeliveryModel, DeliveryRow } from './delivery-model.js';
import { mergeEntries } from './merge-entries.js';
import type { DeliveryEntry } from './merge-entries.js';
import { upsertMerged } from '../write-rows.js';

/** What makes a document tell of these entries too; undefined when it does already. */
function mergeRow(row: DeliveryRow | undefined, entries: readonly DeliveryEntry[]): DeliveryRow | undefined {
  const known = row && toDelivery(row);
  const merged = mergeEntries(known, entries);
  return isDeepStrictEqual(known, merged) ? undefined : toRow(merged, (row?.version ?? 0) + 1);
}

/** Writes what entries tell to the documents of their deliveries; see `upsertMerged`. */
export const writeEntries = (
  ask: Ask<{ readonly deliveries: DeliveryModel }>,
  entries: readonly DeliveryEntry[],
): Promise<void> =>
  upsertMerged(
    (statement) => ask(({ deliveries }) => statement(deliveries.collection)),
    Map.groupBy(entries, ({ deliveryId }) => deliveryId),
    mergeRow,
  );
