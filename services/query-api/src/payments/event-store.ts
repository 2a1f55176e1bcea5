import { LIVE_RETENTION_MS, TEST_EVENT, TOPICS, readEvent, readNotification } from '@webhooks/contracts';
import type { DeliveryTask, PaymentEvent } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import { keyOf, toRow } from './event-model.js';
import type { EventModel, EventRow } from './event-model.js';
import { writeRows } from '../write-rows.js';

export type AskEvents = RunQuery<{ readonly events: EventModel }>;

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
const insert = (ask: AskEvents, rows: readonly EventRow[]): Promise<readonly EventRow[]> =>
  ask(({ events }) => writeRows(events.collection, rows));

/**
 * Keeps the events of records of `payments.events`, by one statement that reads and changes nothing. The first document of
 * an event id stays as it is, so any repetition comes to the same documents. Only what a dead letter that was read first did
 * not know is added: the time of the event, and, of a redelivery, its place.
 */
export async function keepEvents(ask: AskEvents, records: readonly KafkaRecord[]): Promise<void> {
  const rows = records.map(rowOf).filter((row) => row !== undefined);
  const missing = (await insert(ask, rows)).flatMap(({ _id, partition, offset, appendedAt }) => [
    { updateOne: { filter: { _id, offset: { $exists: false } }, update: { $set: { partition, offset } } } },
    { updateOne: { filter: { _id, appendedAt: { $exists: false } }, update: { $set: { appendedAt } } } },
  ]);
  if (missing.length > 0) await ask(({ events }) => events.bulkWrite(missing, { ordered: false }));
}

/** Keeps the event of a test notification: its identifiers then resolve to a record marked `test: true`. */
export async function keepTestEvent(ask: AskEvents, event: PaymentEvent): Promise<void> {
  await insert(ask, [toRow(event, { heardAt: new Date(), test: true })]);
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
  ask: AskEvents,
  task: Pick<DeliveryTask, 'tenantId' | 'eventId' | 'origin' | 'body'>,
): Promise<void> {
  const read = readNotification(task.tenantId, task.body);
  if (!read.ok || read.event.id !== task.eventId) return;
  const rest = { heardAt: new Date(), ...placeOf(task) };
  const { _id, heardAt, ...kept } = toRow(read.event, rest, task.body);
  const update = { $setOnInsert: kept, $max: { heardAt } };
  await ask(({ events }) => events.updateOne({ _id }, update, { upsert: true }).exec());
}

/** The exact bytes of events of a tenant that were heard of within `keptMs`, by event id. At most a few hundred at once. */
export async function findBodies(
  ask: AskEvents,
  tenantId: string,
  eventIds: readonly string[],
  keptMs: number,
): Promise<ReadonlyMap<string, Buffer>> {
  const ids = new Map(eventIds.map((eventId) => [keyOf(tenantId, eventId), eventId]));
  const rows = await ask(({ events }) =>
    events
      .find({ _id: { $in: [...ids.keys()] }, heardAt: { $gt: new Date(Date.now() - keptMs) } })
      .lean<EventRow[]>()
      .exec(),
  );
  return new Map(rows.map((row) => [ids.get(row._id) ?? '', Buffer.from(row.body.value())]));
}
