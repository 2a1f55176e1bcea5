import type { EventType } from '@webhooks/contracts';
import { Schema } from 'mongoose';
import type { Connection, Model, mongo } from 'mongoose';

/** The body that tells of one event, as a document of the collection `notifications`. */
export interface NotificationRow {
  /** `tenantId/eventId`; no tenant id holds a `/`. */
  _id: string;
  eventType: EventType;
  body: mongo.Binary;
  /** The database removes it some time after. */
  expiresAt: Date;
}

export type NotificationModel = Model<NotificationRow>;

export const notificationId = (tenantId: string, eventId: string): string => `${tenantId}/${eventId}`;

export function notificationModelOn(connection: Connection): NotificationModel {
  const schema = new Schema<NotificationRow>(
    {
      _id: { type: String, required: true },
      eventType: { type: String, required: true },
      body: { type: Buffer, required: true },
      expiresAt: { type: Date, required: true },
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<NotificationRow>('Notification', schema, 'notifications');
}
