import { encodeEvent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';

/** Events of one run, round robin over tenants; the same seed gives the same events. */
export interface EventPlan {
  readonly count: number;
  readonly seed: number;
  readonly tenants: readonly string[];
}

/** An event as each door takes it. */
export interface BenchEvent {
  readonly event: PaymentEvent;
  readonly tenantId: string;
  /** Key of its record, as `ingest` would give it. */
  readonly key: string;
  /** Bytes for the topic. */
  readonly record: Buffer;
}

/** All of one type, the one with the longest body: the number of configurations of a tenant is then its fan-out. */
export const BENCH_EVENT_TYPE = 'PIX_DYNAMIC_PAID';

const OCCURRED_AT = '2026-11-21T12:00:00.000Z';

export function* makeEvents({ count, seed, tenants }: EventPlan): Generator<BenchEvent> {
  const random = createRandom(seed);
  for (let index = 0; index < count; index += 1) {
    const tenantId = tenants[index % tenants.length] ?? '';
    const event = buildEvent({ eventType: BENCH_EVENT_TYPE, tenantId, occurredAt: OCCURRED_AT }, random);
    yield { event, tenantId, key: event.data.endToEndId, record: encodeEvent(event) };
  }
}
