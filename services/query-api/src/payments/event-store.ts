import {
  LIVE_RETENTION_MS,
  readEvent,
  readNotification,
  renderNotification,
  TEST_EVENT,
  TOPICS,
} from '@webhooks/contracts';
import type { DeliveryTask, EventType, PaymentEvent } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import { mongo } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { documentSchema, expiring, writeRows } from '../documents.js';
import type { KnownEvent } from './merge-events.js';
import { omitUndefined } from '../omit-undefined.js';

/** An event as a document of the collection `events`. It is inserted once. */
export interface EventRow {
  /** `tenantId/eventId`. */
  readonly _id: string;
  readonly tenantId: string;
  readonly eventType: EventType;
  /** `tenantId/endToEndId`. */
  readonly pix: string;
  /** `tenantId/txId`. */
  readonly charge?: string;
  /** The exact bytes that every attempt sends; they hold the whole event. */
  readonly body: mongo.Binary;
  /** When the event was appended, or its last dead letter was read. */
  readonly heardAt: Date;
  /** When it was appended; absent for a test notification. */
  readonly appendedAt?: Date;
  /** Its place on `payments.events`; absent for a test notification. */
  readonly partition?: number;
  readonly offset?: number;
  /** Made for a test notification: nothing was paid. */
  readonly test?: true;
}

type EventModel = Model<EventRow>;

/** Joins a tenant and an id. No tenant id holds a `/`. */
export const keyOf = (tenantId: string, id: string): string => `${tenantId}/${id}`;
export const idOf = (key: string): string => key.slice(key.indexOf('/') + 1);

/** `keptMs`: undefined keeps events for ever. */
export function eventModelOn(connection: Connection, keptMs: number | undefined): EventModel {
  const schema = documentSchema<EventRow>();
  // Looked up for all tenants by one statement; see find-events.ts.
  schema.index({ pix: 1 });
  schema.index({ charge: 1 });
  // What a webhook missed; see job-pages.ts.
  schema.index({ tenantId: 1, eventType: 1, appendedAt: 1, _id: 1 });
  // Pulled pages read in the order of the topic, one partition after the other.
  schema.index({ tenantId: 1, partition: 1, offset: 1 });
  if (keptMs !== undefined) schema.index({ heardAt: 1 }, expiring(keptMs));
  return connection.model<EventRow>('Event', schema, 'events');
}

export function toRow(
  event: PaymentEvent,
  rest: Pick<EventRow, 'heardAt' | 'appendedAt' | 'partition' | 'offset' | 'test'>,
  body: Buffer = renderNotification(event),
): EventRow {
  const { id, tenantId, eventType, data } = event;
  const { endToEndId, txId }: { readonly endToEndId: string; readonly txId?: string } = data;
  const charge = txId === undefined ? undefined : keyOf(tenantId, txId);
  const keys = { _id: keyOf(tenantId, id), pix: keyOf(tenantId, endToEndId), ...omitUndefined({ charge }) };
  return { ...keys, tenantId, eventType, body: new mongo.Binary(body), ...rest };
}

/** Reads the event from its bytes, which were checked before they were written. */
export const readRow = ({ tenantId, body, test }: EventRow): KnownEvent => ({
  event: { ...(JSON.parse(body.toString()) as PaymentEvent), tenantId },
  isTest: test === true,
});

export type RunEventQuery = RunQuery<{ readonly events: EventModel }>;

/**
 * When a record was appended, at the latest now, and the time from which retention counts. The latter is at most a
 * few days old, because a foreign producer may write any time.
 */
function timesOf(timestamp: number) {
  const now = Date.now();
  const appendedAt = Math.min(timestamp, now);
  return {
    appendedAt: new Date(appendedAt),
    heardAt: new Date(Math.max(appendedAt, now - LIVE_RETENTION_MS)),
  };
}

/** The document of a record; undefined when it cannot be read. The delivery worker rejects such records. */
function rowOf({ value, undecodable, timestamp, partition, offset }: KafkaRecord): EventRow | undefined {
  if (undecodable !== undefined) return undefined;
  const read = readEvent(value);
  if (!read.ok) return undefined;
  return toRow(read.event, { ...timesOf(timestamp), partition, offset });
}

/** Inserts rows and returns those whose event id exists. */
const insert = (runQuery: RunEventQuery, rows: readonly EventRow[]): Promise<readonly EventRow[]> =>
  runQuery(({ events }) => writeRows(events.collection, rows));

/**
 * Keeps the events of records of `payments.events`, by one statement. The first document of an event id stays, so
 * repetition changes nothing. When a dead letter was read first, the event's time and place are added.
 */
export async function keepEvents(runQuery: RunEventQuery, records: readonly KafkaRecord[]): Promise<void> {
  const rows = records.map(rowOf).filter((row) => row !== undefined);
  const missing = (await insert(runQuery, rows)).flatMap(({ _id, partition, offset, appendedAt }) => [
    { updateOne: { filter: { _id, offset: { $exists: false } }, update: { $set: { partition, offset } } } },
    { updateOne: { filter: { _id, appendedAt: { $exists: false } }, update: { $set: { appendedAt } } } },
  ]);
  if (missing.length > 0) await runQuery(({ events }) => events.bulkWrite(missing, { ordered: false }));
}

/** Keeps the event of a test notification, marked `test: true`. */
export async function keepTestEvent(runQuery: RunEventQuery, event: PaymentEvent): Promise<void> {
  await insert(runQuery, [toRow(event, { heardAt: new Date(), test: true })]);
}

/** The place of the event, which only the task has. A test event has none. */
function placeOf({
  eventId,
  origin: { topic, partition, offset },
}: Pick<DeliveryTask, 'eventId' | 'origin'>) {
  if (topic === TOPICS.events) return { partition, offset: Number(offset) };
  return eventId.startsWith(TEST_EVENT) ? ({ test: true } as const) : {};
}

/**
 * Keeps the event of a dead letter, with a retention that begins now. An existing document stays, and its retention
 * begins anew. The event's own record may be read later, so the document is whole. Bytes that hold no event are
 * ignored.
 */
export async function keepDeadLetter(
  runQuery: RunEventQuery,
  task: Pick<DeliveryTask, 'tenantId' | 'eventId' | 'origin' | 'body'>,
): Promise<void> {
  const read = readNotification(task.tenantId, task.body);
  if (!read.ok || read.event.id !== task.eventId) return;
  const rest = { heardAt: new Date(), ...placeOf(task) };
  const { _id, heardAt, ...kept } = toRow(read.event, rest, task.body);
  const update = { $setOnInsert: kept, $max: { heardAt } };
  await runQuery(({ events }) => events.updateOne({ _id }, update, { upsert: true }).exec());
}

/** The exact bytes of a tenant's events by event id, as far as they are kept. At most a few hundred at once. */
export async function findBodies(
  runQuery: RunEventQuery,
  tenantId: string,
  eventIds: readonly string[],
  keptMs: number,
): Promise<ReadonlyMap<string, Buffer>> {
  const ids = new Map(eventIds.map((eventId) => [keyOf(tenantId, eventId), eventId]));
  const rows = await runQuery(({ events }) =>
    events
      .find({ _id: { $in: [...ids.keys()] }, heardAt: { $gt: new Date(Date.now() - keptMs) } })
      .lean<EventRow[]>()
      .exec(),
  );
  return new Map(rows.map((row) => [ids.get(row._id) ?? '', Buffer.from(row.body.value())]));
}
