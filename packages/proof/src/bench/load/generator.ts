import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';
import type { Acceptance } from '@webhooks/testkit/account';
import { monotonicMicros } from '../measure.js';
import { sendAll } from './send.js';
import type { Outgoing, Target, TargetPlan } from './send.js';

/** All events have one type, so the number of a tenant's webhooks is its fan-out. It is the type with the longest body. */
export const BENCH_EVENT_TYPE = 'PIX_DYNAMIC_PAID';

export interface LoadPlan {
  /** Number of events. */
  readonly count: number;
  /** The same seed gives the same events. */
  readonly seed: number;
  /** Tenants, which get the events in turn. */
  readonly tenants: readonly string[];
  readonly target: TargetPlan;
  /** Events a second. Absent: as many as the target accepts. */
  readonly perSecond?: number;
  /** Number of events that are sent first and not measured, while connections are opened and code is compiled. Default 0. */
  readonly warmUp?: number;
  /** Whether records are keyed by the event's id instead of `endToEndId`, as another payment system may do. Default false. */
  readonly foreignKeys?: boolean;
}

/** Builds the events of one run. The same input always gives the same events. */
export function makeEvents({ count, seed, tenants }: Pick<LoadPlan, 'count' | 'seed' | 'tenants'>) {
  const random = createRandom(seed);
  const shared = { eventType: BENCH_EVENT_TYPE, occurredAt: '2026-11-21T12:00:00.000Z' } as const;
  return Array.from({ length: count }, (_, index): PaymentEvent => {
    const tenantId = tenants[index % tenants.length] ?? '';
    return buildEvent({ ...shared, tenantId }, random);
  });
}

/** Sends all events of a load, those of the warm-up first. */
export async function sendLoad(
  events: readonly (Outgoing & { readonly tenantId: string })[],
  target: Target,
  { warmUp = 0, perSecond }: Pick<LoadPlan, 'warmUp' | 'perSecond'>,
) {
  const warm = await sendAll(events.slice(0, warmUp), target, perSecond);
  const [cpuBefore, startedAt] = [process.cpuUsage(), monotonicMicros()];
  const sent = await sendAll(events.slice(warmUp), target, perSecond);
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    /** In the order of the events, those of the warm-up included. */
    acceptances: events.map(({ id, tenantId }, index): Acceptance => {
      const [times, at] = index < warmUp ? [warm, index] : [sent, index - warmUp];
      return { id, tenantId, dueAt: times.dueAt[at] ?? 0, acknowledgedAt: times.acknowledgedAt[at] ?? 0 };
    }),
    /** When the first event after the warm-up was sent; monotonic microseconds. */
    startedAt,
    /** CPU time of the generator from `startedAt` to the last acknowledgement, in microseconds. */
    cpuMicros: user + system,
    /** 99th percentile of the delay between scheduled and actual sending, in microseconds; 0 without a rate. */
    lateMicros: sent.lateMicros,
  };
}
/** What a generator has sent. */
export type Load = Awaited<ReturnType<typeof sendLoad>>;
