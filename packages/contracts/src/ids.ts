import { hash } from 'node:crypto';
import type { PaymentFact } from './event/payment-event.js';

const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz234567', 'latin1');
/** A reused buffer for the text of up to 1,280 bytes. A longer text gets a new buffer. */
const SHARED = Buffer.alloc(2_048);

const charactersOf = (bytes: number): number => Math.ceil((bytes * 8) / 5);

/**
 * Encodes bytes as base32 (RFC 4648 §6) in lower case, without padding: 32 bytes become 52 characters. Each character of
 * `bytes` (latin1) is one byte. Written to a buffer: joining characters would allocate 1.6 KB for each delivery.
 */
export function base32(bytes: string): string {
  const length = charactersOf(bytes.length);
  const text = length <= SHARED.length ? SHARED : Buffer.alloc(length);
  let to = 0;
  let buffered = 0;
  let bits = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    buffered = ((buffered << 8) | bytes.charCodeAt(at)) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text[to++] = ALPHABET[(buffered >> bits) & 31] ?? 0;
    }
  }
  if (bits > 0) text[to] = ALPHABET[(buffered << (5 - bits)) & 31] ?? 0;
  return text.toString('latin1', 0, length);
}

/** Returns the digest of several parts. No part may contain a line feed; each caller checks the parts by a pattern. */
const digest = (parts: readonly string[]): string =>
  // `binary` (one character for each byte), because a buffer takes three times as long.
  base32(hash('sha256', parts.join('\n'), 'binary'));

/**
 * Returns the id of the delivery of one event to one webhook: 52 characters. The same for every attempt, repeat and
 * redelivery.
 */
export function deliveryIdOf(tenantId: string, ref: string, eventId: string): string {
  return digest([tenantId, ref, eventId]);
}

/** Returns the values that distinguish a fact from all others of its tenant and type. */
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

/** Returns the id of an event that was posted without one. The same fact always gets the same id. */
export function deriveEventId(tenantId: string, fact: PaymentFact): string {
  return `evt_${digest([tenantId, fact.eventType, ...factKey(fact)])}`;
}
