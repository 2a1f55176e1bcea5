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

/** An event as a document of the collection `events`: inserted once. */
export interface EventRow {
  /** `tenantId/eventId`. */
  readonly _id: string;
  readonly tenantId: string;
  readonly eventType: EventType;
  /** `tenantId/endToEndId`. */
  readonly pix: string;
  /** `tenantId/txId`. */
  readonly charge?: string;
  /** The exact bytes that every attempt sends. All that the event tells is in them. */
  readonly body: mongo.Binary;
  /** When the event was appended, or the last of its dead letters was read. */
  readonly heardAt: Date;
  /** When it was appended; absent when that is not known, as of a test notification. */
  readonly appendedAt?: Date;
  /** Where it lies on `payments.events`; absent when that is not known, as of a test notification. */
  readonly partition?: number;
  readonly offset?: number;
  /** Made for a test notification: nothing was paid. */
  readonly test?: true;
}

type EventModel = Model<EventRow>;

/** What an id of a tenant is kept by. No tenant id holds a `/`. */
export const keyOf = (tenantId: string, id: string): string => `${tenantId}/${id}`;
export const idOf = (key: string): string => key.slice(key.indexOf('/') + 1);

/** `keptMs` undefined: for ever. */
export function eventModelOn(connection: Connection, keptMs: number | undefined): EventModel {
  const schema = documentSchema<EventRow>();
  // Looked up for all tenants by one statement; see find-by-key.ts.
  schema.index({ pix: 1 });
  schema.index({ charge: 1 });
  // What a webhook missed; see job-pages.ts.
  schema.index({ tenantId: 1, eventType: 1, appendedAt: 1, _id: 1 });
  // What a tenant pulls is read in the order of the topic, one partition after the other.
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

/** The event of a document, of its bytes: they were checked before they were written. */
export const readRow = ({ tenantId, body, test }: EventRow): KnownEvent => ({
  event: { ...(JSON.parse(body.toString()) as PaymentEvent), tenantId },
  isTest: test === true,
});

export type RunEventQuery = RunQuery<{ readonly events: EventModel }>;

/**
 * When a record was appended, but not later than now; and from when its event is kept, for some days at least: the topic holds little
 * that is older, whatever a foreign producer wrote as the time of its record.
 */
function timesOf(timestamp: number) {
  const now = Date.now();
  const appendedAt = Math.min(timestamp, now);
  return {
    appendedAt: new Date(appendedAt),
    heardAt: new Date(Math.max(appendedAt, now - LIVE_RETENTION_MS)),
  };
}

/** The document of a record; none when it cannot be read: the delivery worker moves that to the rejected ones. */
function rowOf({ value, undecodable, timestamp, partition, offset }: KafkaRecord): EventRow | undefined {
  if (undecodable !== undefined) return undefined;
  const read = readEvent(value);
  if (!read.ok) return undefined;
  return toRow(read.event, { ...timesOf(timestamp), partition, offset });
}

/** Inserts; gives those whose event id is there already. */
const insert = (runQuery: RunEventQuery, rows: readonly EventRow[]): Promise<readonly EventRow[]> =>
  runQuery(({ events }) => writeRows(events.collection, rows));

/**
 * Keeps the events of records of `payments.events`, by one statement that reads and changes nothing. The first document of
 * an event id stays as it is, so any repetition comes to the same documents. Only what a dead letter that was read first did
 * not know is added: the time of the event, and, of a redelivery, its place.
 */
export async function keepEvents(runQuery: RunEventQuery, records: readonly KafkaRecord[]): Promise<void> {
  const rows = records.map(rowOf).filter((row) => row !== undefined);
  const missing = (await insert(runQuery, rows)).flatMap(({ _id, partition, offset, appendedAt }) => [
    { updateOne: { filter: { _id, offset: { $exists: false } }, update: { $set: { partition, offset } } } },
    { updateOne: { filter: { _id, appendedAt: { $exists: false } }, update: { $set: { appendedAt } } } },
  ]);
  if (missing.length > 0) await runQuery(({ events }) => events.bulkWrite(missing, { ordered: false }));
}

/** Keeps the event of a test notification: its identifiers then resolve to a record marked `test: true`. */
export async function keepTestEvent(runQuery: RunEventQuery, event: PaymentEvent): Promise<void> {
  await insert(runQuery, [toRow(event, { heardAt: new Date(), test: true })]);
}

/** What only the task tells of its event: where that lies, or that it was made for a test, which lies nowhere. */
function placeOf({
  eventId,
  origin: { topic, partition, offset },
}: Pick<DeliveryTask, 'eventId' | 'origin'>) {
  if (topic === TOPICS.events) return { partition, offset: Number(offset) };
  return eventId.startsWith(TEST_EVENT) ? ({ test: true } as const) : {};
}

/**
 * Keeps the event of a dead letter as long as if it were appended now; a document that is there already stays as it is, so
 * much longer. The whole event, for its own record may be read later and is then there already. Bytes that are none stay behind.
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

/** The exact bytes of events of a tenant that were heard of within `keptMs`, by event id. At most a few hundred at once. */
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
