import { DATA_FIELDS } from './event-schema.js';
import type { PaymentEvent } from './payment-event.js';

/** The fields of `data` that are on the list, in the list's order; everything else stays behind. */
function listedData(event: PaymentEvent): Record<string, unknown> {
  const source: Readonly<Record<string, unknown>> = { ...event.data };
  const listed: Record<string, unknown> = {};
  for (const field of DATA_FIELDS[event.eventType]) {
    if (source[field] !== undefined) listed[field] = source[field];
  }
  return listed;
}

/**
 * An event as `ingest` writes it to the topic: the envelope and the listed fields only, so that nothing else that a
 * caller sent (a name, a document number) is ever stored (LGPD art. 6).
 */
export function encodeEvent(event: PaymentEvent): Buffer {
  const { id, eventType, tenantId, occurredAt } = event;
  return Buffer.from(JSON.stringify({ id, eventType, tenantId, occurredAt, data: listedData(event) }));
}

/**
 * The exact body of the POST for this event: compact JSON in UTF-8, fields in a fixed
 * order. Made once for each event; every attempt at every endpoint sends the same bytes.
 */
export function renderNotification(event: PaymentEvent): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: event.id,
      eventType: event.eventType,
      occurredAt: event.occurredAt,
      data: listedData(event),
    }),
  );
}
