import { isDeepStrictEqual } from 'node:util';
import { projectSpan, TEST_EVENT, TOPICS } from '@webhooks/contracts';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { RunQuery } from '@webhooks/mongodb';
import { endAfter, type Tracing } from '@webhooks/runtime';
import type { Database } from '../database.js';
import { storeFanOuts, toDelivery, toRow } from './delivery-documents.js';
import type { DeliveryModel, DeliveryRow, Move } from './delivery-documents.js';
import type { Delivery } from './delivery-state.js';
import { deliveryStoreWithin } from './delivery-store.js';
import { mergeEntries, stateOf } from './merge-entries.js';
import type { DeliveryEntry } from './merge-entries.js';
import { createDeliveryOperations, findDelivery } from './operations.js';
import type { DeliveryPorts } from './operations.js';
import { readRecords } from './read-records.js';
import { upsertMerged } from '../documents.js';
import { omitUndefined } from '../omit-undefined.js';
import { storeDeadLetters } from '../payments/event-store.js';
import type { OnSkipped, Projection } from '../projection/projection.js';
import { countFacts } from '../statements/daily-totals.js';
import type { Counted, Position } from '../statements/daily-totals.js';

/** Changes of the status that a document stores. Only a batch that is read again after a crash needs them. */
const MAX_MOVES = 8;

/** Whether the totals count a delivery. A test event reports no payment. */
const isCounted = ({ eventId = '', acceptedAt, cents }: Partial<Omit<DeliveryRow, 'updatedAt'>>): boolean =>
  acceptedAt !== undefined && cents !== undefined && !eventId.startsWith(TEST_EVENT);

/** Returns the changes of a delivery's status, with the one that these entries cause. */
function movesOf(
  known: Partial<DeliveryRow>,
  merged: Delivery,
  entries: readonly DeliveryEntry[],
): readonly Move[] {
  const { moves = [], state } = known;
  const [from, to] = [isCounted(known) ? state?.status : undefined, merged.state.status];
  if (!isCounted(merged) || from === to) return moves;
  const position = entries.find((entry) => isDeepStrictEqual(stateOf(entry), merged.state))?.position;
  if (position === undefined) return moves;
  return [...moves, { ...position, ...omitUndefined({ from }), to }].slice(-MAX_MOVES);
}

/** Returns the document with these entries merged in; undefined when it already contains them. */
function mergeRow(row: DeliveryRow | undefined, entries: readonly DeliveryEntry[]): DeliveryRow | undefined {
  const known = row && toDelivery(row);
  const merged = mergeEntries(known, entries);
  if (isDeepStrictEqual(known, merged)) return undefined;
  return { ...toRow(merged, (row?.version ?? 0) + 1), moves: movesOf(row ?? {}, merged, entries) };
}

/** Returns the changes of a delivery's status that these entries caused. */
function factsOf(row: DeliveryRow, entries: readonly DeliveryEntry[]): readonly Counted[] {
  const { tenantId, ref, acceptedAt = 0, cents = 0, moves = [] } = row;
  const isOfEntries = ({ partition, offset }: Position): boolean =>
    entries.some(({ position }) => position?.partition === partition && position.offset === offset);
  return moves.filter(isOfEntries).map((move) => ({ ...move, tenantId, acceptedAt, of: ref, cents }));
}

/** Writes entries to the documents of their deliveries; see `upsertMerged`. Returns what they change in the totals. */
export async function writeEntries(
  runQuery: RunQuery<{ readonly deliveries: DeliveryModel }>,
  entries: readonly DeliveryEntry[],
): Promise<readonly Counted[]> {
  const written = new Map<string, DeliveryRow>();
  const byDelivery = Map.groupBy(entries, ({ deliveryId }) => deliveryId);
  await upsertMerged<DeliveryRow, readonly DeliveryEntry[]>(
    (statement) => runQuery(({ deliveries }) => statement(deliveries.collection)),
    byDelivery,
    (row, changes, id) => {
      const merged = mergeRow(row, changes);
      const now = merged ?? row;
      if (now) written.set(id, now);
      return merged;
    },
  );
  return [...written].flatMap(([id, row]) => factsOf(row, byDelivery.get(id) ?? []));
}

interface DeliveryLogOptions extends Omit<DeliveryPorts, 'storeFor'> {
  readonly database: Database;
  readonly onSkipped: OnSkipped;
  readonly startSpan: Tracing['startSpan'];
}

export type DeliveryLog = ReturnType<typeof composeDeliveryLog>;

/**
 * Bytes of one batch: about 2,000 entries. The slowest database writes them in a second, so every projection advances
 * each second.
 */
const MAX_BYTES = 768 * 1_024;

/** Composes the delivery log: the attempts that workers report, stored for `LOG_RETENTION`. */
export function composeDeliveryLog(options: DeliveryLogOptions) {
  const { database, onSkipped, startSpan, ...rest } = options;
  const ports = { storeFor: () => deliveryStoreWithin(database, REQUEST_MS), ...rest };
  return {
    projection: {
      name: 'attempts',
      topics: [TOPICS.attempts, TOPICS.deadLetters],
      maxBytes: MAX_BYTES,
      apply: async (records) => {
        const { entries, notifications, fanOuts } = readRecords(records, onSkipped);
        const store = async (): Promise<void> => {
          // Notifications first, so that every delivery that is shown can be sent again.
          await storeDeadLetters(database.writing(), notifications);
          const facts = await writeEntries(database.writing(), entries);
          await countFacts(database.writing(), facts);
          await storeFanOuts(database.writing(), fanOuts);
        };
        const spans = entries.map((entry) =>
          entry.kind === 'attempt' ? startSpan(entry.traceparent, () => projectSpan(entry)) : undefined,
        );
        const end = (ended = {}): void => {
          for (const span of spans) span?.end(ended);
        };
        await endAfter(end, store());
      },
    } satisfies Projection,
    operations: createDeliveryOperations(ports),
    find: (tenantId: string, deliveryId: string) => findDelivery(tenantId, deliveryId, ports),
  };
}
