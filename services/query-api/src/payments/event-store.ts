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
import { documentSchema, expiring, placeOf, readUpTo, writeRows } from '../documents.js';
import type { Retention } from '../documents.js';
import { parseCents } from './view-transaction.js';
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
  /** Integer cents of its amount. */
  readonly cents: number;
  /** By `occurredAt`; see `placeOf`. Absent for a test event, so that no list of payments shows it. */
  readonly place?: string;
  /** The exact bytes that every attempt sends. They contain the whole event. */
  readonly body: mongo.Binary;
  /** When the event was appended, or its last dead letter was read. The retention counts from it. */
  readonly heardAt: Date;
  /** When the event was appended to `payments.events`; absent for the event of a test notification. */
  readonly appendedAt?: Date;
  /** Partition and offset on `payments.events`; absent for the event of a test notification. */
  readonly partition?: number;
  readonly offset?: number;
  /** True for a test event: nothing was paid. */
  readonly test?: true;
  /** `heardAt` of a test event, when it was inserted. A test is stored as long as the log of its deliveries. */
  readonly testAt?: Date;
}

type EventModel = Model<EventRow>;

/** Joins a tenant and an id. No tenant id contains a `/`. */
export const keyOf = (tenantId: string, id: string): string => `${tenantId}/${id}`;
/** Returns the tenant of a key that `keyOf` made. */
export const tenantOf = (key: string): string => key.slice(0, key.indexOf('/'));
/** Returns the id of a key that `keyOf` made. */
export const idOf = (key: string): string => key.slice(key.indexOf('/') + 1);

/** A test event is stored for `logMs`, every other one for `transactionMs`; undefined: for ever. */
export function eventModelOn(connection: Connection, { logMs, transactionMs }: Retention): EventModel {
  const schema = documentSchema<EventRow>();
  // For look-ups of several tenants by one statement; see find-events.ts.
  schema.index({ pix: 1 });
  schema.index({ charge: 1 });
  // For the events that a webhook missed; see job-pages.ts.
  schema.index({ tenantId: 1, eventType: 1, appendedAt: 1, _id: 1 });
  // For pulled pages, which read in the order of the topic, one partition after the other.
  schema.index({ tenantId: 1, partition: 1, offset: 1 });
  // For lists of payments; see list-transactions.ts.
  schema.index({ tenantId: 1, place: 1 });
  if (transactionMs !== undefined) schema.index({ heardAt: 1 }, expiring(transactionMs));
  // A field and an index of tests alone, so that other events have no entry and do not end with the log.
  schema.index({ testAt: 1 }, { ...expiring(logMs), partialFilterExpression: { test: true } });
  return connection.model<EventRow>('Event', schema, 'events');
}

/** Returns the document of an event. Its id says whether it is a test. `body`: the notification; default: rendered from the event. */
export function toRow(
  event: PaymentEvent,
  rest: Pick<EventRow, 'heardAt' | 'appendedAt' | 'partition' | 'offset'>,
  body: Buffer = renderNotification(event),
): EventRow {
  const { id, tenantId, eventType, occurredAt, data } = event;
  const { endToEndId, txId }: { readonly endToEndId: string; readonly txId?: string } = data;
  const charge = txId === undefined ? undefined : keyOf(tenantId, txId);
  const kind = id.startsWith(TEST_EVENT)
    ? ({ test: true, testAt: rest.heardAt } as const)
    : { place: placeOf(Date.parse(occurredAt), id) };
  const [_id, pix, cents] = [keyOf(tenantId, id), keyOf(tenantId, endToEndId), parseCents(data.amount)];
  const keys = { _id, pix, ...omitUndefined({ charge }), cents };
  return { ...keys, tenantId, eventType, body: new mongo.Binary(body), ...kind, ...rest };
}

/** Reads the event of a document. Its bytes were checked before they were written. */
export const readRow = ({ tenantId, body }: EventRow): PaymentEvent => ({
  ...(JSON.parse(body.toString()) as PaymentEvent),
  tenantId,
});

export type RunEventQuery = RunQuery<{ readonly events: EventModel }>;

/**
 * Returns when a record was appended, by the rule of the worker: at the latest now, and now for a record without a time.
 * Returns the time from which its retention counts, too. That time is at most seven days old, because a producer may send
 * any timestamp.
 */
function timesOf(timestamp: number) {
  const now = Date.now();
  const latest = Math.min(timestamp, now);
  return {
    appendedAt: new Date(timestamp > 0 ? latest : now),
    heardAt: new Date(Math.max(latest, now - LIVE_RETENTION_MS)),
  };
}

/** Returns the document of a record; undefined when it cannot be read. The delivery worker rejects such records. */
function rowOf({ value, undecodable, timestamp, partition, offset }: KafkaRecord): EventRow | undefined {
  if (undecodable !== undefined) return undefined;
  const read = readEvent(value);
  if (!read.ok) return undefined;
  return toRow(read.event, { ...timesOf(timestamp), partition, offset });
}

/** Inserts rows. Returns the rows whose event id already exists. */
const insert = (runQuery: RunEventQuery, rows: readonly EventRow[]): Promise<readonly EventRow[]> =>
  runQuery(({ events }) => writeRows(events.collection, rows));

/** Returns those rows whose event is stored from their own record. */
async function findFirst(runQuery: RunEventQuery, rows: readonly EventRow[]): Promise<readonly EventRow[]> {
  const filter = { _id: { $in: rows.map(({ _id }) => _id) } };
  const found = await runQuery(({ events }) =>
    events.find(filter, { partition: 1, offset: 1 }).lean<EventRow[]>().exec(),
  );
  const places = new Map(found.map(({ _id, partition, offset }) => [_id, `${partition}/${offset}`]));
  return rows.filter(({ _id, partition, offset }) => places.get(_id) === `${partition}/${offset}`);
}

/**
 * Stores the events of records of `payments.events`. Idempotent: the first document of an event id stays. When its dead
 * letter was read first, the time and the position of the event are added. Returns the rows of all records but those
 * that repeat the event of another record.
 */
export async function storeEvents(
  runQuery: RunEventQuery,
  records: readonly KafkaRecord[],
): Promise<readonly EventRow[]> {
  const rows = records.map(rowOf).filter((row) => row !== undefined);
  const known = await insert(runQuery, rows);
  if (known.length === 0) return rows;
  const missing = known.flatMap(({ _id, partition, offset, appendedAt }) => [
    { updateOne: { filter: { _id, offset: { $exists: false } }, update: { $set: { partition, offset } } } },
    { updateOne: { filter: { _id, appendedAt: { $exists: false } }, update: { $set: { appendedAt } } } },
  ]);
  await runQuery(({ events }) => events.bulkWrite(missing, { ordered: false }));
  const repeated = new Set(known);
  return [...rows.filter((row) => !repeated.has(row)), ...(await findFirst(runQuery, known))];
}

/** Stores the event of a test notification, which has no record. */
export async function storeTestEvent(runQuery: RunEventQuery, event: PaymentEvent): Promise<void> {
  await insert(runQuery, [toRow(event, { heardAt: new Date() })]);
}

/** Returns the position of a task's event on `payments.events`; none for what was sent again, and for a test notification. */
const positionOf = ({ origin: { topic, partition, offset } }: Pick<DeliveryTask, 'origin'>) =>
  topic === TOPICS.events ? { partition, offset: Number(offset) } : {};

/** The notification of a dead letter. */
export type DeadNotification = Pick<DeliveryTask, 'tenantId' | 'eventId' | 'origin' | 'body'>;

/** Returns the write of a dead letter's event; none for a body that is no event. */
function writeOf(task: DeadNotification) {
  const read = readNotification(task.tenantId, task.body);
  if (!read.ok || read.event.id !== task.eventId) return [];
  const rest = { heardAt: new Date(), ...positionOf(task) };
  const { _id, heardAt, ...row } = toRow(read.event, rest, task.body);
  const update = { $setOnInsert: row, $max: { heardAt } };
  return [{ updateOne: { filter: { _id }, update, upsert: true } }];
}

/**
 * Stores the events of dead letters by one statement. Their retention counts from now, also for a document that exists
 * and otherwise stays. The record of the event may be read later, so the document is complete.
 */
export async function storeDeadLetters(
  runQuery: RunEventQuery,
  notifications: readonly DeadNotification[],
): Promise<void> {
  const writes = notifications.flatMap(writeOf);
  await runQuery(({ events }) => events.bulkWrite(writes, { ordered: false }));
}

/** Finds events of a tenant, by event id. Unknown ones are left out. Ids may repeat. */
export async function findByIds(
  runQuery: RunEventQuery,
  tenantId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, EventRow>> {
  if (eventIds.length === 0) return new Map();
  const ids = [...new Set(eventIds)].map((eventId) => keyOf(tenantId, eventId));
  const rows = await runQuery(({ events }) =>
    readUpTo<EventRow>(events.find({ _id: { $in: ids } }), ids.length),
  );
  return new Map(rows.map((row) => [idOf(row._id), row]));
}

/** Returns the notification of an event; undefined when it is older than `retentionMs`. */
export const bodyOf = ({ heardAt, body }: EventRow, retentionMs: number): Buffer | undefined =>
  heardAt.getTime() > Date.now() - retentionMs ? Buffer.from(body.value()) : undefined;
