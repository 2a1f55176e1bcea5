import { PATTERNS } from './patterns.js';
import type { EventType } from './payment-event.js';

const text = (pattern: string) => ({ type: 'string', pattern }) as const;
const utcTime = { type: 'string', format: 'utc-date-time' } as const;

/** JSON Schemas of `data` for each type: required fields and the others that may travel. Unknown fields are ignored. */
export const DATA_SCHEMAS = {
  PIX_DYNAMIC_PAID: {
    type: 'object',
    required: ['txId', 'endToEndId', 'amount'],
    properties: {
      txId: text(PATTERNS.dynamicTxId),
      endToEndId: text(PATTERNS.endToEndId),
      amount: text(PATTERNS.money),
      paidAt: utcTime,
      chargeAmount: text(PATTERNS.money),
    },
  },
  PIX_STATIC: {
    type: 'object',
    required: ['endToEndId', 'amount'],
    properties: {
      endToEndId: text(PATTERNS.endToEndId),
      amount: text(PATTERNS.money),
      txId: text(PATTERNS.staticTxId),
    },
  },
  PIX_REVERSAL: {
    type: 'object',
    required: ['endToEndId', 'reversalId', 'rtrId', 'amount', 'status'],
    properties: {
      endToEndId: text(PATTERNS.endToEndId),
      reversalId: text(PATTERNS.reversalId),
      rtrId: text(PATTERNS.endToEndId),
      amount: text(PATTERNS.money),
      status: { type: 'string', enum: ['DEVOLVIDO', 'NAO_REALIZADO'] },
      txId: text(PATTERNS.anyTxId),
      reason: text(PATTERNS.reasonCode),
      requestedAt: utcTime,
      settledAt: utcTime,
    },
  },
  PIX_OUT: {
    type: 'object',
    required: ['endToEndId', 'amount', 'status'],
    properties: {
      endToEndId: text(PATTERNS.endToEndId),
      amount: text(PATTERNS.money),
      status: { type: 'string', enum: ['REALIZADO', 'NAO_REALIZADO'] },
      paymentId: text(PATTERNS.paymentId),
      reason: text(PATTERNS.reasonCode),
    },
  },
} as const satisfies Record<EventType, object>;

/** The whole event of one type as it stands on the topic: every envelope field is there. */
export const eventSchema = (eventType: EventType) => ({
  type: 'object',
  required: ['id', 'eventType', 'tenantId', 'occurredAt', 'data'],
  properties: {
    id: text(PATTERNS.eventId),
    eventType: { const: eventType },
    tenantId: text(PATTERNS.tenantId),
    occurredAt: utcTime,
    data: DATA_SCHEMAS[eventType],
  },
});

/** The same as a caller of `ingest` may post it: `id` and `tenantId` can be left to the service. */
export const postedEventSchema = (eventType: EventType) => ({
  ...eventSchema(eventType),
  required: ['eventType', 'occurredAt', 'data'],
});
