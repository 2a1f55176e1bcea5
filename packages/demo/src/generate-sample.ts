import { EVENT_TYPES } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';

const TENANTS = ['acme', 'globex'] as const;
const FIRST = Date.parse('2026-11-21T12:00:00.000Z');

/**
 * Generates payment events of two tenants over an hour: all types, with identifiers and amounts as in Banco Central's API Pix. The same
 * seed gives the same events on every machine.
 */
export function generateSample(count: number, seed: number): PaymentEvent[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) =>
    buildEvent(
      {
        eventType: random.pick(EVENT_TYPES),
        tenantId: random.pick(TENANTS),
        occurredAt: new Date(FIRST + Math.floor((index * 3_600_000) / count)).toISOString(),
      },
      random,
    ),
  );
}
