import { hash } from 'node:crypto';
import { base32 } from './base32.js';
import type { PaymentFact } from './event/payment-event.js';

/** The digest of several parts. No part may hold a line feed: each is matched against a pattern before it comes here. */
const digest = (parts: readonly string[]): string =>
  // As a string of bytes: a buffer took three times as long when measured (2.8 µs for each delivery).
  base32(hash('sha256', parts.join('\n'), 'binary'));

/**
 * Name of one (event, configuration) pair, 52 characters; the same for every attempt, repeat and redelivery.
 */
export function deliveryIdOf(tenantId: string, ref: string, eventId: string): string {
  return digest([tenantId, ref, eventId]);
}

/** The words of a business fact that tell it from every other one of its tenant and type. */
function factKey(fact: PaymentFact): readonly string[] {
  switch (fact.eventType) {
    case 'PIX_DYNAMIC_PAID':
    case 'PIX_STATIC':
      return [fact.data.endToEndId];
    case 'PIX_REVERSAL':
      return [fact.data.rtrId, fact.data.status];
    case 'PIX_OUT':
      return [fact.data.endToEndId, fact.data.status];
  }
}

/** Event id of a fact whose sender gave none: the same fact has the same id, whoever posts it and how often. */
export function deriveEventId(tenantId: string, fact: PaymentFact): string {
  return `evt_${digest([tenantId, fact.eventType, ...factKey(fact)])}`;
}
