import { isDeepStrictEqual } from 'node:util';
import { TOPICS } from '@webhooks/contracts';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import type { Database } from '../database.js';
import { keepFanOuts, toDelivery, toRow } from './delivery-model.js';
import type { DeliveryModel, DeliveryRow } from './delivery-model.js';
import { deliveryStoreWithin } from './delivery-store.js';
import { mergeEntries } from './merge-entries.js';
import type { DeliveryEntry } from './merge-entries.js';
import { createDeliveryOperations, findDelivery } from './operations.js';
import type { DeliveryPorts } from './operations.js';
import { readRecords } from './read-records.js';
import type { DeadNotification } from './read-records.js';
import { upsertMerged } from '../documents.js';
import type { PassedOver, Projection } from '../projection/projection.js';

/** What makes a document tell of these entries too; undefined when it does already. */
function mergeRow(row: DeliveryRow | undefined, entries: readonly DeliveryEntry[]): DeliveryRow | undefined {
  const known = row && toDelivery(row);
  const merged = mergeEntries(known, entries);
  return isDeepStrictEqual(known, merged) ? undefined : toRow(merged, (row?.version ?? 0) + 1);
}

/** Writes what entries tell to the documents of their deliveries; see `upsertMerged`. */
export const writeEntries = (
  runQuery: RunQuery<{ readonly deliveries: DeliveryModel }>,
  entries: readonly DeliveryEntry[],
): Promise<void> =>
  upsertMerged(
    (statement) => runQuery(({ deliveries }) => statement(deliveries.collection)),
    Map.groupBy(entries, ({ deliveryId }) => deliveryId),
    mergeRow,
  );

interface DeliveryLogOptions extends Pick<DeliveryPorts, 'lists' | 'catchUp'> {
  readonly database: Database;
  /** Keeps what a dead letter carried, so that it can be sent again. Must be idempotent; a rejection means "again". */
  readonly keepNotification: (notification: DeadNotification) => Promise<void>;
  readonly passedOver: PassedOver;
}

export type DeliveryLog = ReturnType<typeof composeDeliveryLog>;

/** Written together: some 2,000 entries. The slowest database writes them in a second: each projection gets on in every one. */
const MAX_BYTES = 768 * 1_024;
/** A lone attempt is written at once; of many each batch is a transaction or three, of which queries feel every one. */
const INTERVAL_MS = 200;

/** The log of deliveries: what the workers tell of their attempts, kept for `LOG_RETENTION` and answered. */
export function composeDeliveryLog({ database, keepNotification, passedOver, ...rest }: DeliveryLogOptions) {
  const ports = { storeFor: () => deliveryStoreWithin(database, REQUEST_MS), ...rest };
  return {
    projection: {
      name: 'attempts',
      topics: [TOPICS.attempts, TOPICS.deadLetters],
      maxBytes: MAX_BYTES,
      intervalMs: INTERVAL_MS,
      publishesPositions: true,
      apply: async (records) => {
        const { entries, notifications, fanOuts } = readRecords(records, passedOver);
        // Before the deliveries: one that is shown can be sent again.
        await Promise.all(notifications.map(keepNotification));
        await writeEntries(database.writing(), entries);
        await keepFanOuts(database.writing(), fanOuts);
      },
    } satisfies Projection,
    operations: createDeliveryOperations(ports),
    find: (tenantId: string, deliveryId: string) => findDelivery(tenantId, deliveryId, ports),
  };
}
