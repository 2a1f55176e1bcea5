import { TOPICS, deliveryIdOf, encodeAttemptPack, taskHeaders } from '@webhooks/contracts';
import type { AttemptEntry, AttemptLogEntry, DeliveryTask } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';

export const REF = '0191e7a2-0000-7000-8000-000000000001';
export const OTHER_REF = '0191e7a2-0000-7000-8000-000000000002';
/** A time within what is kept. */
export const T0 = Date.now() - 3_600_000;

export interface Place {
  readonly tenantId?: string;
  readonly ref?: string;
  readonly eventId?: string;
}

/** What all entries of one delivery have in common. */
export function baseOf({ tenantId = 'acme', ref = REF, eventId = 'evt_1' }: Place = {}) {
  const deliveryId = deliveryIdOf(tenantId, ref, eventId);
  const source = { topic: TOPICS.events, partition: 4, offset: '77' };
  const event = { eventId, eventType: 'PIX_OUT' } as const;
  return { deliveryId, tenantId, ref, ...event, cycle: '0', revision: 3, attempt: 1, at: T0, source };
}

type Over<T> = Partial<Omit<T, 'kind'>>;

export const failed = (over: Over<AttemptEntry> = {}, place: Place = {}): AttemptEntry => ({
  ...baseOf(place),
  kind: 'attempt',
  durationMs: 12,
  result: 'failed',
  status: 503,
  nextAt: T0 + 5_000,
  ...over,
});

export function delivered(over: Over<AttemptEntry> = {}, place: Place = {}): AttemptEntry {
  const { nextAt: _nextAt, ...rest } = failed({ result: 'delivered', status: 200 }, place);
  return { ...rest, ...over };
}

type OfKind<K extends AttemptLogEntry['kind']> = Extract<AttemptLogEntry, { kind: K }>;

export const deferred = (over: Over<OfKind<'deferred'>> = {}, place: Place = {}): OfKind<'deferred'> => ({
  ...baseOf(place),
  kind: 'deferred',
  nextAt: T0 + 30_000,
  ...over,
});
export const cancelled = (over: Over<OfKind<'cancelled'>> = {}, place: Place = {}): OfKind<'cancelled'> => ({
  ...baseOf(place),
  kind: 'cancelled',
  reason: 'disabled',
  ...over,
});
export const dead = (over: Over<OfKind<'dead'>> = {}, place: Place = {}): OfKind<'dead'> => ({
  ...baseOf(place),
  kind: 'dead',
  reason: 'attempts-exhausted',
  ...over,
});

let offset = 0;

export function recordOf(topic: string, value: Buffer | null, over: Partial<KafkaRecord> = {}): KafkaRecord {
  offset += 1;
  const place = { topic, partition: 0, offset, timestamp: T0 + 900_000 };
  return { ...place, key: null, value, headers: {}, size: value?.length ?? 0, ...over };
}

export const packRecord = (...entries: readonly AttemptLogEntry[]): KafkaRecord =>
  recordOf(TOPICS.attempts, encodeAttemptPack(entries), { timestamp: Date.now() });

const buffers = (headers: Readonly<Record<string, string>>): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]));

/** A dead letter as the worker writes it (settle.ts). */
export function deadRecord(
  task: Partial<DeliveryTask> = {},
  place: Place = {},
  headers: Readonly<Record<string, string>> = {},
): KafkaRecord {
  const { at, source, ...base } = baseOf(place);
  const whole: DeliveryTask = {
    ...base,
    dueAt: at,
    firstDueAt: at,
    deferralCount: 0,
    origin: source,
    body: Buffer.from(`{"id":"${base.eventId}"}`),
    ...task,
  };
  const told = { 'dead-reason': 'attempts-exhausted', 'dead-at': String(at + 60_000) };
  return recordOf(TOPICS.deadLetters, whole.body, {
    headers: buffers({ ...taskHeaders(whole), ...told, ...headers }),
  });
}
