import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';

/** Events of one run, round robin over tenants; the same seed gives the same events. */
export interface EventPlan {
  readonly count: number;
  readonly seed: number;
  readonly tenants: readonly string[];
}

/** All of one type, the one with the longest body: the number of webhooks of a tenant is then its fan-out. */
export const BENCH_EVENT_TYPE = 'PIX_DYNAMIC_PAID';

const OCCURRED_AT = '2026-11-21T12:00:00.000Z';

export function makeEvents({ count, seed, tenants }: EventPlan): readonly PaymentEvent[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) =>
    buildEvent(
      {
        eventType: BENCH_EVENT_TYPE,
        tenantId: tenants[index % tenants.length] ?? '',
        occurredAt: OCCURRED_AT,
      },
      random,
    ),
  );
}
