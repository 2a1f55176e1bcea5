import { DATA_FIELDS } from './payment-event.js';
import type { PaymentEvent } from './payment-event.js';

/** Raised whenever the bytes of a notification would change for the same event. */
export const NOTIFICATION_VERSION = 1;

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
 * The exact body of the POST that tells of this event (contract §4): compact JSON in UTF-8, fields in a fixed
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
