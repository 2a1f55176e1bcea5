import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';
import type { LoadPlan } from './send.js';

/** All of one type, the one with the longest body: the number of webhooks of a tenant is then its fan-out. */
export const BENCH_EVENT_TYPE = 'PIX_DYNAMIC_PAID';

/** The events of one run. */
export function makeEvents({ count, seed, tenants }: Pick<LoadPlan, 'count' | 'seed' | 'tenants'>) {
  const random = createRandom(seed);
  const shared = { eventType: BENCH_EVENT_TYPE, occurredAt: '2026-11-21T12:00:00.000Z' } as const;
  return Array.from({ length: count }, (_, index): PaymentEvent => {
    const tenantId = tenants[index % tenants.length] ?? '';
    return buildEvent({ ...shared, tenantId }, random);
  });
}
