import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';
import type { Acceptance } from '@webhooks/testkit/account';
import { monotonicMicros } from '../measure.js';
import { sendAll } from './send.js';
import type { Outgoing, Target, TargetPlan } from './send.js';

/** All of one type, the one with the longest body: the number of webhooks of a tenant is then its fan-out. */
export const BENCH_EVENT_TYPE = 'PIX_DYNAMIC_PAID';

export interface LoadPlan {
  /** Number of events. */
  readonly count: number;
  /** The same seed gives the same events. */
  readonly seed: number;
  /** Each gets the next event in turn. */
  readonly tenants: readonly string[];
  readonly target: TargetPlan;
  /** Absent: a flood, as many as are taken. */
  readonly perSecond?: number;
  /** So many of the events are sent first and not measured: connections are opened and code is compiled. Default 0. */
  readonly warmUp?: number;
  /** Keys that say nothing of the payment, as another payment system may choose them. Default false. */
  readonly foreignKeys?: boolean;
}

/** The events of one run. */
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
  const [{ user, system }, endedAt] = [process.cpuUsage(cpuBefore), monotonicMicros()];
  return {
    /** In the order of the events, those of the warm-up included. */
    acceptances: events.map(({ id, tenantId }, index): Acceptance => {
      const [times, at] = index < warmUp ? [warm, index] : [sent, index - warmUp];
      return { id, tenantId, dueAt: times.dueAt[at] ?? 0, acknowledgedAt: times.acknowledgedAt[at] ?? 0 };
    }),
    /** Of what is measured: first event sent, and last acknowledgement; monotonic microseconds. */
    startedAt,
    endedAt,
    /** CPU of the generator in between, in microseconds. */
    cpuMicros: user + system,
    /** How much later than scheduled events were sent, in microseconds: 99 % of them; 0 for a flood. */
    lateMicros: sent.lateMicros,
  };
}
/** What a generator has sent. */
export type Load = Awaited<ReturnType<typeof sendLoad>>;
