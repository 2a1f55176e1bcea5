import { renderNotification } from '@webhooks/contracts';
import type { EventType, PaymentEvent } from '@webhooks/contracts';
import type { Ask } from '@webhooks/mongodb';
import { mongo } from 'mongoose';
import { notificationId } from './notification-model.js';
import type { NotificationModel, NotificationRow } from './notification-model.js';
import { writeRows } from '../write-rows.js';

export type AskNotifications = Ask<{ readonly notifications: NotificationModel }>;

/** An event, and when it was appended to the topic in milliseconds since 1970 (of a test notification: made). */
export interface AppendedEvent {
  readonly event: PaymentEvent;
  readonly appendedAt: number;
}

const DAY_MS = 86_400_000;
/** How long a body can be sent again. */
const KEPT_MS = 30 * DAY_MS;
/** The topic holds nothing older, whatever a foreign producer wrote as the time of its record. */
const OLDEST_MS = 7 * DAY_MS;

/** 30 days after the event was appended; a time that cannot be true is taken for the nearest that can. */
const expiryOf = (appendedAt: number, now: number): Date =>
  new Date(Math.min(Math.max(appendedAt, now - OLDEST_MS), now) + KEPT_MS);

const toRow = ({ event, appendedAt }: AppendedEvent, now: number): NotificationRow => ({
  _id: notificationId(event.tenantId, event.id),
  eventType: event.eventType,
  body: new mongo.Binary(renderNotification(event)),
  expiresAt: expiryOf(appendedAt, now),
});

/** Keeps the bodies that tell of these events. The first one of an event id stays as it is. */
export async function keepNotifications(
  ask: AskNotifications,
  events: readonly AppendedEvent[],
  now = Date.now(),
): Promise<void> {
  if (events.length === 0) return;
  const inserts = events.map((one) => ({ insert: toRow(one, now) }));
  await ask(({ notifications }) => writeRows(notifications.collection, inserts));
}

/** Keeps the body that tells of one event, from now on; see `keepNotifications`. */
export const keepNotification = (ask: AskNotifications, event: PaymentEvent): Promise<void> =>
  keepNotifications(ask, [{ event, appendedAt: Date.now() }]);

export interface KeptNotification {
  readonly eventType: EventType;
  /** The exact bytes that every attempt sends. */
  readonly body: Buffer;
}

/** The body that tells of an event of a tenant, when it was kept and is not older than 30 days. */
export async function findNotification(
  ask: AskNotifications,
  tenantId: string,
  eventId: string,
): Promise<KeptNotification | undefined> {
  const row = await ask(({ notifications }) =>
    notifications
      .findOne({ _id: notificationId(tenantId, eventId), expiresAt: { $gt: new Date() } })
      .lean<NotificationRow>()
      .exec(),
  );
  return row ? { eventType: row.eventType, body: Buffer.from(row.body.value()) } : undefined;
}

/** The bodies of several events of a tenant, by event id; see `findNotification`. At most a few hundred at once. */
export async function findBodies(
  ask: AskNotifications,
  tenantId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const ids = new Map(eventIds.map((eventId) => [notificationId(tenantId, eventId), eventId]));
  const rows = await ask(({ notifications }) =>
    notifications
      .find({ _id: { $in: [...ids.keys()] }, expiresAt: { $gt: new Date() } })
      .lean<NotificationRow[]>()
      .exec(),
  );
  return new Map(rows.map((row) => [ids.get(row._id) ?? '', Buffer.from(row.body.value())]));
}

/** Keeps the bytes of a dead letter for 30 days from now; bytes that are kept already stay as they are, so much longer. */
export async function keepBody(
  ask: AskNotifications,
  {
    tenantId,
    eventId,
    eventType,
    body,
  }: { readonly tenantId: string; readonly eventId: string } & KeptNotification,
): Promise<void> {
  const kept = { eventType, body: new mongo.Binary(Buffer.from(body)) };
  const update = { $setOnInsert: kept, $max: { expiresAt: new Date(Date.now() + KEPT_MS) } };
  const _id = notificationId(tenantId, eventId);
  // A collection without a type of its own expects ids that the driver made.
  await ask(({ notifications }) =>
    notifications.collection.updateOne({ _id: _id as never }, update, { upsert: true }),
  );
}
