import { isDeepStrictEqual } from 'node:util';
import { TOPICS } from '@webhooks/contracts';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import type { Database } from '../database.js';
import { storeFanOuts, toDelivery, toRow } from './delivery-documents.js';
import type { DeliveryModel, DeliveryRow } from './delivery-documents.js';
import { deliveryStoreWithin } from './delivery-store.js';
import { mergeEntries } from './merge-entries.js';
import type { DeliveryEntry } from './merge-entries.js';
import { createDeliveryOperations, findDelivery } from './operations.js';
import type { DeliveryPorts } from './operations.js';
import { readRecords } from './read-records.js';
import type { DeadNotification } from './read-records.js';
import { upsertMerged } from '../documents.js';
import type { OnSkipped, Projection } from '../projection/projection.js';

/** Returns the document with these entries merged in; undefined when it already contains them. */
function mergeRow(row: DeliveryRow | undefined, entries: readonly DeliveryEntry[]): DeliveryRow | undefined {
  const known = row && toDelivery(row);
  const merged = mergeEntries(known, entries);
  return isDeepStrictEqual(known, merged) ? undefined : toRow(merged, (row?.version ?? 0) + 1);
}

/** Writes entries to the documents of their deliveries; see `upsertMerged`. */
export const writeEntries = (
  runQuery: RunQuery<{ readonly deliveries: DeliveryModel }>,
  entries: readonly DeliveryEntry[],
): Promise<void> =>
  upsertMerged(
    (statement) => runQuery(({ deliveries }) => statement(deliveries.collection)),
    Map.groupBy(entries, ({ deliveryId }) => deliveryId),
    mergeRow,
  );

interface DeliveryLogOptions extends Omit<DeliveryPorts, 'storeFor'> {
  readonly database: Database;
  /**
   * Stores the notification of a dead letter, so that it can be sent again. Must be idempotent: the call is repeated
   * after a rejection.
   */
  readonly storeNotification: (notification: DeadNotification) => Promise<void>;
  readonly onSkipped: OnSkipped;
}

export type DeliveryLog = ReturnType<typeof composeDeliveryLog>;

/**
 * Bytes of one batch: about 2,000 entries. The slowest database writes them in a second, so every projection advances
 * each second.
 */
const MAX_BYTES = 768 * 1_024;
/**
 * From the start of one batch to that of the next. A single attempt is written at once; a higher rate of batches
 * would slow queries.
 */
const INTERVAL_MS = 200;

/** Composes the delivery log: the attempts that workers report, stored for `LOG_RETENTION`. */
export function composeDeliveryLog({ database, storeNotification, onSkipped, ...rest }: DeliveryLogOptions) {
  const ports = { storeFor: () => deliveryStoreWithin(database, REQUEST_MS), ...rest };
  return {
    projection: {
      name: 'attempts',
      topics: [TOPICS.attempts, TOPICS.deadLetters],
      maxBytes: MAX_BYTES,
      intervalMs: INTERVAL_MS,
      publishesPositions: true,
      apply: async (records) => {
        const { entries, notifications, fanOuts } = readRecords(records, onSkipped);
        // Notifications first, so that every delivery that is shown can be sent again.
        await Promise.all(notifications.map(storeNotification));
        await writeEntries(database.writing(), entries);
        await storeFanOuts(database.writing(), fanOuts);
      },
    } satisfies Projection,
    operations: createDeliveryOperations(ports),
    find: (tenantId: string, deliveryId: string) => findDelivery(tenantId, deliveryId, ports),
  };
}
