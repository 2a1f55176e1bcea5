import { eventSchema, postedEventSchema } from './event-schema.js';
import { EVENT_TYPES, isEventType } from './payment-event.js';
import type { EventType, PaymentEvent, PaymentFact, UtcTime } from './payment-event.js';
import { compileCheck } from '../json/schema-compiler.js';
import type { Check, Violation } from '../json/schema-compiler.js';
import { parseStrictJson } from '../json/strict-json.js';
import type { JsonFault } from '../json/strict-json.js';

/** Largest event on the topic, in bytes. */
export const MAX_EVENT_BYTES = 1_048_576;
/** An event is an object with one object inside; deeper nesting is an attack or a mistake. */
const MAX_EVENT_DEPTH = 16;

/** Why a record of `payments.events` is no event; a stable word, written to the header `reject-reason`. */
export type RejectReason = 'null-value' | 'too-large' | JsonFault | 'unknown-event-type' | 'schema';

/** An event as a caller of `ingest` posts it. */
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

/** What every event has, of whatever type and however it comes. */
const ALWAYS = ['eventType', 'occurredAt', 'data'];
const missingOf = (value: Readonly<Record<string, unknown>>): readonly Violation[] =>
  ALWAYS.filter((name) => value[name] === undefined).map((property) => ({ property, reason: 'is required' }));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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

/** Reads one record value of `payments.events`. Never throws: what cannot be read has a reason. */
export function readEvent(bytes: Uint8Array | null): ReadResult<PaymentEvent> {
  if (bytes === null) return refused('null-value');
  if (bytes.byteLength > MAX_EVENT_BYTES) return refused('too-large');
  const parsed = parseStrictJson(bytes, { maxDepth: MAX_EVENT_DEPTH });
  return parsed.ok ? check(parsed.value, eventChecks) : refused(parsed.fault);
}

/** Reads the body of a notification back: the event of this tenant that it was rendered of. Never throws. */
export function readNotification(tenantId: string, body: Uint8Array): ReadResult<PaymentEvent> {
  const parsed = parseStrictJson(body, { maxDepth: MAX_EVENT_DEPTH });
  if (!parsed.ok) return refused(parsed.fault);
  return check(isObject(parsed.value) ? { ...parsed.value, tenantId } : parsed.value, eventChecks);
}

/** A payment system's clock may differ, and no more: a day ahead is a mistake. */
const MAX_AHEAD_MS = 86_400_000;
const ZERO = /^0+\.00$/;

function* mistakesOf({ data, occurredAt }: PostedEvent, now: number): Generator<Violation> {
  if (ZERO.test(data.amount)) yield { property: 'data.amount', reason: 'must be more than 0.00' };
  if (Date.parse(occurredAt) > now + MAX_AHEAD_MS)
    yield { property: 'occurredAt', reason: 'must not be more than a day ahead' };
}

/**
 * Checks one already parsed event of a caller of `ingest`. Never throws. It refuses mistakes that a producer on the topic is not
 * held to. `now`: Unix milliseconds.
 */
export function readPostedEvent(value: unknown, now = Date.now()): ReadResult<PostedEvent> {
  const read = check(value, postedChecks);
  const mistakes = read.ok ? [...mistakesOf(read.event, now)] : [];
  return mistakes.length === 0 ? read : refused('schema', mistakes);
}
