import {
  RETRY_TIERS,
  TOPICS,
  TOPIC_TABLE,
  configurationKey,
  deliveryIdOf,
  encodeAttemptPack,
  encodeEvent,
  renderNotification,
  taskHeaders,
} from '@webhooks/contracts';
import type { ConfigurationRecord, DeliveryTask, EventType, PaymentEvent } from '@webhooks/contracts';
import { refOf } from '@webhooks/ledger';
import { buildEvent } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import { mutateBytes } from '../mutants/mutate-bytes.js';
import { mutateJson } from '../mutants/mutate-json.js';
import type { FuzzRecord } from './fuzz-record.js';
import { mutateHeaders } from './mutate-headers.js';

/** What records can refer to. */
export interface RecordContext {
  /** `ref` of the configuration of this type. */
  readonly refOf: (eventType: EventType) => string;
  /** `tenantId/ref` of a configuration that config-api owns. */
  readonly attackedKey: string;
  /** Of the endpoint that mutated configurations name. */
  readonly origin: string;
}

type Parts = Pick<FuzzRecord, 'topic' | 'value' | 'headers' | 'isValid'> & {
  readonly key?: FuzzRecord['key'];
};
type Making = (random: Random, context: RecordContext, index: number) => Parts;

const KIB = 1_024;
/** Around what an event may have, and near what the broker takes. */
const SIZES: readonly [number, ...number[]] = [1_023 * KIB, 1_024 * KIB, 1_025 * KIB, 3_900 * KIB];
const HUGE_ONE_OF = 60;

function mutateValue(random: Random, value: unknown, bytes: Buffer): Buffer | null {
  if (random.int(1, HUGE_ONE_OF) === 1)
    return Buffer.concat([bytes.subarray(0, -1), Buffer.alloc(random.pick(SIZES), ' '), bytes.subarray(-1)]);
  const roll = random.next();
  if (roll < 0.5) return Buffer.from(mutateJson(random, value));
  if (roll < 0.7) return mutateBytes(random, bytes);
  if (roll < 0.75) return random.pick([null, Buffer.alloc(0)]);
  return bytes;
}

const eventFor = (random: Random): PaymentEvent => buildEvent({ tenantId: FUZZ_TENANTS.topics }, random);

const makeEvent: Making = (random) => {
  const event = eventFor(random);
  const bytes = encodeEvent(event);
  const value = mutateValue(random, event, bytes);
  const headers = { ce_id: event.id, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  return {
    topic: TOPICS.events,
    value,
    headers: random.chance(0.3) ? mutateHeaders(random, headers) : headers,
    // No header of an event is needed.
    isValid: value === bytes,
  };
};

function taskFor(random: Random, context: RecordContext): DeliveryTask {
  const event = eventFor(random);
  const ref = context.refOf(event.eventType);
  const now = Date.now();
  return {
    deliveryId: deliveryIdOf(event.tenantId, ref, event.id),
    cycle: '0',
    eventId: event.id,
    eventType: event.eventType,
    tenantId: event.tenantId,
    ref,
    revision: 1,
    attempt: random.int(1, 3),
    dueAt: now + random.pick([-60_000, 0, 100]),
    firstDueAt: now,
    parkedCount: random.int(0, 2),
    origin: { topic: TOPICS.events, partition: random.int(0, 11), offset: String(random.int(1, 1e9)) },
    errorCode: 'TIMEOUT',
    history: `v1 1:${now - 1_000}:12:503`,
    body: renderNotification(event),
  };
}

const DAMAGED_TASKS = 0.75;

/** A task's bytes may be anything that is to be sent; what must not be damaged are its headers. */
function makeTask(topic: string, random: Random, context: RecordContext): Parts {
  const task = taskFor(random, context);
  const made = taskHeaders(task);
  const value = random.chance(0.1) ? mutateValue(random, {}, task.body) : task.body;
  const headers = random.chance(DAMAGED_TASKS) ? mutateHeaders(random, made) : made;
  return { topic, key: task.deliveryId, value, headers, isValid: value === task.body && headers === made };
}

const [SHORTEST, ...LONGER] = RETRY_TIERS.map(({ topic }) => topic);

const makeRetry: Making = (random, context) =>
  makeTask(
    random.chance(0.7) || !LONGER[0] ? (SHORTEST ?? '') : random.pick([LONGER[0], ...LONGER]),
    random,
    context,
  );

const configurationFor = (random: Random, { origin }: RecordContext, index: number): ConfigurationRecord => ({
  v: 1,
  tenantId: FUZZ_TENANTS.pictured,
  ref: refOf(`/mutant/${index}`),
  revision: random.int(1, 5),
  eventType: 'PIX_OUT',
  endpointUrl: `${origin}/mutant/${index}`,
  enabled: true,
  createdAt: '2026-11-22T10:00:00.000Z',
  updatedAt: '2026-11-22T10:00:00.000Z',
  ...(random.chance(0.2) ? { secrets: [{ sealed: 'v1.none.AAAA' }] } : {}),
});

/** Bytes are left whole but for their end: a changed digit of the port would lead to somebody else's. */
function mutateConfiguration(random: Random, record: ConfigurationRecord, bytes: Buffer): Buffer | null {
  const roll = random.next();
  if (roll < 0.65) return Buffer.from(mutateJson(random, record));
  if (roll < 0.75) return bytes.subarray(0, random.int(0, bytes.length - 1));
  return roll < 0.8 ? null : bytes;
}

const encode = (record: ConfigurationRecord): Buffer => Buffer.from(JSON.stringify(record));

function makePictured(random: Random, record: ConfigurationRecord): Parts {
  const own = configurationKey(record.tenantId, record.ref);
  const key = random.chance(0.9) ? own : random.pick(['', '/', '__proto__', 'x']);
  const bytes = encode(record);
  const value = mutateConfiguration(random, record, bytes);
  const isValid = value === bytes && key === own;
  return { topic: TOPICS.configurations, key, value, headers: {}, isValid };
}

const makeConfiguration: Making = (random, context, index) => {
  const record = configurationFor(random, context, index);
  if (random.chance(0.75)) return makePictured(random, record);
  const [tenantId = '', ref = ''] = context.attackedKey.split('/');
  const attack = { ...record, tenantId, ref, revision: random.int(1, 50) };
  const revision = random.pick([1, 60, 1e9, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e22, 1e308]);
  const value = random.chance(0.5)
    ? encode({ ...attack, revision })
    : mutateConfiguration(random, attack, encode(attack));
  return { topic: TOPICS.configurations, key: context.attackedKey, value, headers: {}, isValid: false };
};

const makePack: Making = (random, context) => {
  const { deliveryId, cycle, eventId, eventType, tenantId, ref, revision, origin } = taskFor(random, context);
  const base = { deliveryId, cycle, eventId, eventType, tenantId, ref, revision, attempt: 1 };
  const at = Date.now();
  const pack = {
    v: 1 as const,
    records: [
      {
        kind: 'attempt',
        ...base,
        at,
        source: origin,
        durationMs: 12,
        result: 'failed',
        status: 503,
        nextAt: at,
      } as const,
      { kind: 'parked', ...base, at, source: origin, nextAt: at + 1_000 } as const,
    ],
  };
  const bytes = encodeAttemptPack(pack.records);
  const value = mutateValue(random, pack, bytes);
  return { topic: TOPICS.attempts, key: deliveryId, value, headers: {}, isValid: value === bytes };
};

const makeDeadLetter: Making = (random, context) => {
  const { headers, isValid, ...parts } = makeTask(TOPICS.deadLetters, random, context);
  const dead = { ...headers, 'dead-reason': 'attempts-exhausted', 'dead-at': String(Date.now()) };
  const isDamaged = random.chance(0.5);
  return {
    ...parts,
    headers: isDamaged ? mutateHeaders(random, dead) : dead,
    isValid: isValid && !isDamaged,
  };
};

const MAKINGS: readonly (readonly [weight: number, Making])[] = [
  [7, makeEvent],
  [3, (random, context) => makeTask(TOPICS.deliveries, random, context)],
  [4, makeRetry],
  [3, makeConfiguration],
  [2, makePack],
  [2, makeDeadLetter],
];
const BAG = MAKINGS.flatMap(([weight, making]) => Array.from({ length: weight }, () => making));

const partitionsOf = (topic: string): number =>
  TOPIC_TABLE.find(({ name }) => name === topic)?.partitions ?? 1;

const KEYS: readonly [Buffer | string | null, ...(Buffer | string | null)[]] = [
  null,
  '',
  'key',
  Buffer.from([0xff, 0x00]),
  Buffer.alloc(20_000, 'k'),
];

/** The record of one input: valid, nearly so, or nonsense, for one of all topics. */
export function makeRecord(random: Random, context: RecordContext, index: number): FuzzRecord {
  const making = BAG[random.int(0, BAG.length - 1)] ?? makeEvent;
  const { key = random.pick(KEYS), ...parts } = making(random, context, index);
  return { index, partition: random.int(0, partitionsOf(parts.topic) - 1), key, ...parts };
}
