import { EVENT_TYPES, isEventType } from './payment-event.js';
import type { EventType, PaymentEvent, PaymentFact, UtcTime } from './payment-event.js';
import { compileCheck, type Check, type Violation, PATTERNS } from '../json/schema-compiler.js';
import { isObject, parseStrictJson, type JsonFault } from '../json/strict-json.js';

/** Makes the schema of a text field. `description`: the requirement, as the end of a violation's sentence. */
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
 * JSON Schemas of `data` for each type: the required and the optional fields, in the order of a notification. Unknown
 * fields are ignored.
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

/** The fields of `data` that a notification contains, in this order. */
export const DATA_FIELDS: Readonly<Record<EventType, readonly string[]>> = {
  PIX_DYNAMIC_PAID: Object.keys(DATA_SCHEMAS.PIX_DYNAMIC_PAID.properties),
  PIX_STATIC: Object.keys(DATA_SCHEMAS.PIX_STATIC.properties),
  PIX_REVERSAL: Object.keys(DATA_SCHEMAS.PIX_REVERSAL.properties),
  PIX_OUT: Object.keys(DATA_SCHEMAS.PIX_OUT.properties),
};

/** Returns the JSON Schema of an event of one type on the topic: every field of the envelope is required. */
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

/**
 * Returns the JSON Schema of an event that is posted to `ingest`: as `eventSchema`, with `id` and `tenantId`
 * optional.
 */
export const postedEventSchema = (eventType: EventType) => ({
  ...eventSchema(eventType),
  required: ['eventType', 'occurredAt', 'data'],
});

/** Largest event on the topic, in bytes. */
export const MAX_EVENT_BYTES = 1_048_576;
/** An event is an object with one nested object. Deeper nesting is an attack or a mistake. */
const MAX_EVENT_DEPTH = 16;

/** Why a record of `payments.events` is not a valid event: a stable word, written to the header `reject-reason`. */
export type RejectReason = 'null-value' | 'too-large' | JsonFault | 'unknown-event-type' | 'schema';

/** An event as it is posted to `ingest`. */
export type PostedEvent = PaymentFact & {
  readonly id?: string;
  readonly tenantId?: string;
  readonly occurredAt: UtcTime;
};

export type ReadResult<T> =
  | { readonly ok: true; readonly event: T }
  | { readonly ok: false; readonly reason: RejectReason; readonly violations: readonly Violation[] };

const compileAll = <T>(schemaOf: (eventType: EventType) => object): ReadonlyMap<EventType, Check<T>> =>
  new Map(EVENT_TYPES.map((eventType) => [eventType, compileCheck<T>(schemaOf(eventType))]));

const eventChecks = compileAll<PaymentEvent>(eventSchema);
const postedChecks = compileAll<PostedEvent>(postedEventSchema);

const refused = (reason: RejectReason, violations: readonly Violation[] = []) =>
  ({ ok: false, reason, violations }) as const;

/** Fields that events of every type have. */
const ALWAYS = ['eventType', 'occurredAt', 'data'];
const missingOf = (value: Readonly<Record<string, unknown>>): readonly Violation[] =>
  ALWAYS.filter((name) => value[name] === undefined).map((property) => ({ property, reason: 'is required' }));

function check<T>(value: unknown, checks: ReadonlyMap<EventType, Check<T>>): ReadResult<T> {
  if (!isObject(value)) return refused('schema', [{ property: '', reason: 'must be a JSON object' }]);
  const { eventType } = value;
  if (eventType === undefined) return refused('schema', missingOf(value));
  const typeCheck = isEventType(eventType) ? checks.get(eventType) : undefined;
  if (!typeCheck) {
    const reason = `must be one of ${EVENT_TYPES.join(', ')}`;
    return refused('unknown-event-type', [{ property: 'eventType', reason }]);
  }
  const result = typeCheck(value);
  return result.ok ? { ok: true, event: result.value } : refused('schema', result.violations);
}

/** Reads the value of one record of `payments.events`. Never throws: returns the reason for an invalid value. */
export function readEvent(bytes: Uint8Array | null): ReadResult<PaymentEvent> {
  if (bytes === null) return refused('null-value');
  if (bytes.byteLength > MAX_EVENT_BYTES) return refused('too-large');
  const parsed = parseStrictJson(bytes, { maxDepth: MAX_EVENT_DEPTH });
  return parsed.ok ? check(parsed.value, eventChecks) : refused(parsed.fault);
}

/** Reads the body of a notification. Returns the event of this tenant from which it was rendered. Never throws. */
export function readNotification(tenantId: string, body: Uint8Array): ReadResult<PaymentEvent> {
  const parsed = parseStrictJson(body, { maxDepth: MAX_EVENT_DEPTH });
  if (!parsed.ok) return refused(parsed.fault);
  return check(isObject(parsed.value) ? { ...parsed.value, tenantId } : parsed.value, eventChecks);
}

/** Tolerance for the clocks of payment systems. A time more than a day ahead is a mistake. */
const MAX_AHEAD_MS = 86_400_000;
const ZERO = /^0+\.00$/;

function* mistakesOf(event: PostedEvent, now: number): Generator<Violation> {
  const { data, occurredAt } = event;
  if (ZERO.test(data.amount)) yield { property: 'data.amount', reason: 'must be more than 0.00' };
  if (Date.parse(occurredAt) > now + MAX_AHEAD_MS)
    yield { property: 'occurredAt', reason: 'must not be more than a day ahead' };
}

/**
 * Checks a parsed event that was posted to `ingest`. Stricter than for records of the topic: also refuses an amount of
 * zero, and a time more than a day ahead. Never throws. `now`: Unix milliseconds.
 */
export function readPostedEvent(value: unknown, now = Date.now()): ReadResult<PostedEvent> {
  const read = check(value, postedChecks);
  const mistakes = read.ok ? [...mistakesOf(read.event, now)] : [];
  return mistakes.length === 0 ? read : refused('schema', mistakes);
}

/** Returns the fields of `data` that are in `DATA_FIELDS`, in that order. */
function listedData(event: PaymentEvent): Record<string, unknown> {
  const source: Readonly<Record<string, unknown>> = { ...event.data };
  const listed: Record<string, unknown> = {};
  for (const field of DATA_FIELDS[event.eventType]) {
    if (source[field] !== undefined) listed[field] = source[field];
  }
  return listed;
}

/**
 * Encodes an event as `ingest` writes it to the topic: only the envelope and the listed fields. So other data of a
 * caller (a name, a document number) is never stored (LGPD art. 6).
 */
export function encodeEvent(event: PaymentEvent): Buffer {
  const { id, eventType, tenantId, occurredAt } = event;
  return Buffer.from(JSON.stringify({ id, eventType, tenantId, occurredAt, data: listedData(event) }));
}

/**
 * Renders the exact body of the POST for this event: compact JSON in UTF-8, with fields in a fixed order. Rendered once
 * for each event; every attempt at every endpoint sends the same bytes.
 */
export function renderNotification(event: PaymentEvent): Buffer {
  const { id, eventType, occurredAt } = event;
  return Buffer.from(JSON.stringify({ id, eventType, occurredAt, data: listedData(event) }));
}

const AMOUNT = /"amount":"(\d{1,10})\.(\d\d)"/;

/** Returns the amount in the body of a notification in cents; undefined when there is none. Searches, because it must be fast. */
export function centsOf(body: Buffer): number | undefined {
  const [, reais, cents] = AMOUNT.exec(body.toString('latin1')) ?? [];
  return reais === undefined ? undefined : Number(`${reais}${cents}`);
}
