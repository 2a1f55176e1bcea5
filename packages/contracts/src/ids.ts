import { hash } from 'node:crypto';
import type { PaymentFact } from './event/payment-event.js';

const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz234567', 'latin1');
/** 1,280 bytes of input; longer ones get space of their own. */
const SHARED = Buffer.alloc(2_048);

const charactersOf = (bytes: number): number => Math.ceil((bytes * 8) / 5);

/**
 * RFC 4648 §6 base32 in lower case, without padding: 32 bytes become 52 characters. A character (latin1) is a byte.
 * Written to a buffer first: text that is joined character by character takes 1.6 KB of small strings for each delivery.
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

/** The digest of several parts. No part may hold a line feed: each is matched against a pattern before it comes here. */
const digest = (parts: readonly string[]): string =>
  // As a string of bytes: a buffer takes three times as long.
  base32(hash('sha256', parts.join('\n'), 'binary'));

/**
 * Name of one (event, configuration) pair, 52 characters; the same for every attempt, repeat and redelivery.
 */
export function deliveryIdOf(tenantId: string, ref: string, eventId: string): string {
  return digest([tenantId, ref, eventId]);
}

/** The values that distinguish a fact from all others of its tenant and type. */
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
