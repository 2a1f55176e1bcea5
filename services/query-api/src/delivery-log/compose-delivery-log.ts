import { TOPICS } from '@webhooks/contracts';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '../database.js';
import type { Database } from '../database.js';
import type { Projection } from '../projection/projection.js';
import { deliveryStoreWithin } from './delivery-store.js';
import type { DeliveryStore } from './delivery-store.js';
import { createDeliveryOperations, findDelivery } from './operations.js';
import type { DeliveryPorts } from './operations.js';
import type { Delivery } from './delivery.js';
import { readRecords } from './read-records.js';
import type { DeadNotification, Unreadable } from './read-records.js';
import { writeEntries } from './write-entries.js';

export interface DeliveryLogOptions extends Pick<DeliveryPorts, 'lists' | 'catchUp'> {
  readonly database: Database;
  /** Keeps what a dead letter carried, so that it can be sent again. Must be idempotent; a rejection means "again". */
  readonly keepNotification: (notification: DeadNotification) => Promise<void>;
  readonly unreadable: Unreadable;
}

export interface DeliveryLog {
  readonly projection: Projection;
  readonly operations: readonly Operation[];
  /** The store, for all that one piece of work asks of it within so many milliseconds. */
  readonly storeWithin: (ms: number) => DeliveryStore;
  /** See `findDelivery`. */
  readonly find: (tenantId: string, deliveryId: string) => Promise<Delivery>;
}

/** Packs that are written together: 32 of 256 entries are 8,192, which the slowest database writes in some 8 s. */
const MAX_RECORDS = 32;
/** A lone attempt is written at once; of many each batch is a transaction or three, of which queries feel every one. */
const INTERVAL_MS = 200;

/** The log of deliveries: what the workers tell of their attempts, kept for `LOG_RETENTION` and answered. */
export function composeDeliveryLog({
  database,
  keepNotification,
  unreadable,
  ...rest
}: DeliveryLogOptions): DeliveryLog {
  const storeWithin = (ms: number): DeliveryStore => deliveryStoreWithin(database, ms);
  const ports = { storeFor: () => storeWithin(REQUEST_MS), ...rest };
  return {
    projection: {
      name: 'attempts',
      topics: [TOPICS.attempts, TOPICS.deadLetters],
      maxRecords: MAX_RECORDS,
      intervalMs: INTERVAL_MS,
      isAwaited: true,
      apply: async (records) => {
        const { entries, notifications } = readRecords(records, unreadable);
        // Before the deliveries: one that is shown can be sent again.
        await Promise.all(notifications.map(keepNotification));
        await writeEntries(database.writing(), entries);
      },
    },
    operations: createDeliveryOperations(ports),
    storeWithin,
    find: (tenantId, deliveryId) => findDelivery(tenantId, deliveryId, ports),
  };
}
