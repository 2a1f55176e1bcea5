import { PATTERNS } from '../json/patterns.js';
import type { EventType } from './payment-event.js';

/** `description` ends the sentence that tells a caller what the field must be. */
const text = (pattern: string, description: string) => ({ type: 'string', pattern, description }) as const;
const utcTime = {
  type: 'string',
  format: 'utc-date-time',
  description: 'must be an RFC 3339 time in UTC, such as 2026-11-21T14:03:27.512Z',
} as const;
const endToEndId = text(PATTERNS.endToEndId, 'must be 32 letters or digits');
const money = text(PATTERNS.money, 'must be text with two decimals after a point, such as "110.00"');
const reasonCode = text(PATTERNS.reasonCode, 'must be 1 to 35 letters, digits, _ or -');
const shortId = (pattern: string, range = '1 to 35') => text(pattern, `must be ${range} letters or digits`);

/**
 * JSON Schemas of `data` for each type: required fields and the others that may travel, in the order in which a notification carries
 * them. Unknown fields are ignored.
 */
export const DATA_SCHEMAS = {
  PIX_DYNAMIC_PAID: {
    type: 'object',
    required: ['txId', 'endToEndId', 'amount'],
    properties: {
      txId: shortId(PATTERNS.dynamicTxId, '26 to 35'),
      endToEndId,
      amount: money,
      paidAt: utcTime,
      chargeAmount: money,
    },
  },
  PIX_STATIC: {
    type: 'object',
    required: ['endToEndId', 'amount'],
    properties: {
      endToEndId,
      amount: money,
      txId: shortId(PATTERNS.staticTxId, '1 to 25'),
    },
  },
  PIX_REVERSAL: {
    type: 'object',
    required: ['endToEndId', 'reversalId', 'rtrId', 'amount', 'status'],
    properties: {
      endToEndId,
      reversalId: shortId(PATTERNS.reversalId),
      rtrId: endToEndId,
      amount: money,
      status: { type: 'string', enum: ['DEVOLVIDO', 'NAO_REALIZADO'] },
      txId: shortId(PATTERNS.anyTxId),
      reason: reasonCode,
      requestedAt: utcTime,
      settledAt: utcTime,
    },
  },
  PIX_OUT: {
    type: 'object',
    required: ['endToEndId', 'amount', 'status'],
    properties: {
      endToEndId,
      amount: money,
      status: { type: 'string', enum: ['REALIZADO', 'NAO_REALIZADO'] },
      paymentId: shortId(PATTERNS.paymentId),
      reason: reasonCode,
    },
  },
} as const satisfies Record<EventType, object>;

/** The fields of `data` that travel, in this order. */
export const DATA_FIELDS: Readonly<Record<EventType, readonly string[]>> = {
  PIX_DYNAMIC_PAID: Object.keys(DATA_SCHEMAS.PIX_DYNAMIC_PAID.properties),
  PIX_STATIC: Object.keys(DATA_SCHEMAS.PIX_STATIC.properties),
  PIX_REVERSAL: Object.keys(DATA_SCHEMAS.PIX_REVERSAL.properties),
  PIX_OUT: Object.keys(DATA_SCHEMAS.PIX_OUT.properties),
};

/** The whole event of one type as it stands on the topic: every envelope field is there. */
export const eventSchema = (eventType: EventType) => ({
  type: 'object',
  required: ['id', 'eventType', 'tenantId', 'occurredAt', 'data'],
  properties: {
    id: text(PATTERNS.eventId, 'must be 1 to 64 letters, digits, _ or -'),
    eventType: { const: eventType },
    tenantId: text(
      PATTERNS.tenantId,
      'must be 1 to 128 letters, digits or . _ : @ -, the first a letter or digit',
    ),
    occurredAt: utcTime,
    data: DATA_SCHEMAS[eventType],
  },
});

/** The same as a caller of `ingest` may post it: `id` and `tenantId` can be left to the service. */
export const postedEventSchema = (eventType: EventType) => ({
  ...eventSchema(eventType),
  required: ['eventType', 'occurredAt', 'data'],
});
