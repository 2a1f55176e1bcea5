import type { PaymentEvent } from './payment-event.js';

/** CloudEvents 1.0 attributes in Kafka's binary mode, as `ingest` writes them. */
export function cloudEventHeaders(event: PaymentEvent, source: string): Record<string, string> {
  return {
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: event.eventType,
    ce_source: source,
    ce_time: event.occurredAt,
    'content-type': 'application/json',
  };
}
