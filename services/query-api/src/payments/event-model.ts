import { renderNotification } from '@webhooks/contracts';
import type { EventType, PaymentEvent } from '@webhooks/contracts';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { mongo } from 'mongoose';
import type { KnownEvent } from './merge-events.js';
import { present } from '../present.js';
import { expiring } from '../retention.js';

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

export type EventModel = Model<EventRow>;

/** What an id of a tenant is kept by. No tenant id holds a `/`. */
export const keyOf = (tenantId: string, id: string): string => `${tenantId}/${id}`;
export const idOf = (key: string): string => key.slice(key.indexOf('/') + 1);

/** `keptMs` undefined: for ever. */
export function eventModelOn(connection: Connection, keptMs: number | undefined): EventModel {
  const schema = new Schema<EventRow>(
    { _id: { type: String, required: true } },
    { versionKey: false, strict: false },
  );
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
  const keys = { _id: keyOf(tenantId, id), pix: keyOf(tenantId, endToEndId), ...present({ charge }) };
  return { ...keys, tenantId, eventType, body: new mongo.Binary(body), ...rest };
}

/** The event of a document, of its bytes: they were checked before they were written. */
export const readRow = ({ tenantId, body, test }: EventRow): KnownEvent => ({
  event: { ...(JSON.parse(body.toString()) as PaymentEvent), tenantId },
  isTest: test === true,
});
