import { randomBytes } from 'node:crypto';
import { deriveEventId, EVENT_TYPES } from '@webhooks/contracts';
import type { EventType, PaymentEvent, PaymentFact } from '@webhooks/contracts';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Creates a seeded random generator (mulberry32, 32 bits of state). The same seed gives the same sequence on every machine. For samples and
 * property tests, not for secrets.
 */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    /** In [0, 1). */
    next,
    /** Whole number in [min, max], both included. */
    int,
    pick: <T>(items: readonly [T, ...T[]]): T => items[int(0, items.length - 1)] ?? items[0],
    /** True with the given probability. */
    chance: (probability: number) => next() < probability,
    /** Text of `length` characters from `alphabet`, default letters and digits. */
    text: (length: number, alphabet = ALPHANUMERIC) =>
      Array.from({ length }, () => alphabet.charAt(int(0, alphabet.length - 1))).join(''),
  };
}

export type Random = ReturnType<typeof createRandom>;

/** Returns a unique name, `<prefix>-<12 hex digits>`; valid for topics, databases, groups and tenants. */
export function randomName(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}

export interface EventOverrides {
  readonly eventType?: EventType;
  readonly id?: string;
  readonly tenantId?: string;
  readonly occurredAt?: string;
  /** Merged over the generated fields; to build an invalid event, spread the result and change it. */
  readonly data?: object;
}

/** A Pix identifier: `E` (payment) or `D` (reversal), ISPB, minute in UTC, 11 letters and digits. */
function buildEndToEndId(at: Date, random: Random, prefix: 'E' | 'D' = 'E'): string {
  const minute = at.toISOString().replace(/\D/g, '').slice(0, 12);
  return `${prefix}${random.text(8, '0123456789')}${minute}${random.text(11)}`;
}

function buildAmount(random: Random): string {
  const cents = random.int(1, 500_000);
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/**
 * Builds a valid payment event of the given type (default: any). `random` (default: a fresh seed) chooses all other values, so two calls
 * never describe the same fact. A missing `id` is derived as `ingest` does.
 */
export function buildEvent(
  overrides: EventOverrides = {},
  random: Random = createRandom(randomBytes(4).readUInt32LE()),
): PaymentEvent {
  const eventType = overrides.eventType ?? random.pick(EVENT_TYPES);
  const occurredAt = overrides.occurredAt ?? new Date().toISOString();
  const built = BUILDERS[eventType](new Date(occurredAt), random);
  const fact = { ...built, data: { ...built.data, ...overrides.data } } as PaymentFact;
  const tenantId = overrides.tenantId ?? 'acme';
  return { id: overrides.id ?? deriveEventId(tenantId, fact), ...fact, tenantId, occurredAt };
}

const BUILDERS: Record<EventType, (at: Date, random: Random) => PaymentFact> = {
  PIX_DYNAMIC_PAID: (at, random) => ({
    eventType: 'PIX_DYNAMIC_PAID',
    data: {
      txId: random.text(random.int(26, 35)),
      endToEndId: buildEndToEndId(at, random),
      amount: buildAmount(random),
      paidAt: at.toISOString(),
    },
  }),
  PIX_STATIC: (at, random) => ({
    eventType: 'PIX_STATIC',
    data: {
      endToEndId: buildEndToEndId(at, random),
      amount: buildAmount(random),
      ...(random.chance(0.5) ? { txId: random.text(random.int(1, 25)) } : {}),
    },
  }),
  PIX_REVERSAL: (at, random) => ({
    eventType: 'PIX_REVERSAL',
    data: {
      endToEndId: buildEndToEndId(new Date(at.getTime() - random.int(1, 90) * 3_600_000), random),
      reversalId: random.text(random.int(1, 35)),
      rtrId: buildEndToEndId(at, random, 'D'),
      amount: buildAmount(random),
      status: random.chance(0.9) ? 'DEVOLVIDO' : 'NAO_REALIZADO',
      reason: random.pick(['MD06', 'BE08', 'FR01', 'SL02']),
      settledAt: at.toISOString(),
    },
  }),
  PIX_OUT: (at, random) => ({
    eventType: 'PIX_OUT',
    data: {
      endToEndId: buildEndToEndId(at, random),
      amount: buildAmount(random),
      status: random.chance(0.95) ? 'REALIZADO' : 'NAO_REALIZADO',
      paymentId: random.text(random.int(8, 35)),
    },
  }),
};
