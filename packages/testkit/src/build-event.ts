import { deriveEventId, EVENT_TYPES } from '@webhooks/contracts';
import type { EventType, PaymentEvent, PaymentFact } from '@webhooks/contracts';
import { randomBytes } from 'node:crypto';
import { createRandom } from './random.js';
import type { Random } from './random.js';

export interface EventOverrides {
  readonly eventType?: EventType;
  readonly id?: string;
  readonly tenantId?: string;
  readonly occurredAt?: string;
  /** Merged over the generated fields; to build an invalid event, spread the result and change it. */
  readonly data?: object;
}

/** The first of the Pix identifiers' shapes: `E` or `D`, ISPB, minute in UTC, 11 letters and digits. */
function buildEndToEndId(at: Date, random: Random, prefix: 'E' | 'D' = 'E'): string {
  const minute = at.toISOString().replace(/\D/g, '').slice(0, 12);
  return `${prefix}${random.text(8, '0123456789')}${minute}${random.text(11)}`;
}

function buildAmount(random: Random): string {
  const cents = random.int(1, 500_000);
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/**
 * A valid payment event of the given type (default: any); everything else is made up by `random`
 * (default: a fresh seed), so that two calls never describe the same fact. Without `id` it is derived as `ingest` does.
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
