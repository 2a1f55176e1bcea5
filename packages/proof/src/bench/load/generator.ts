import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';
import type { Acceptance } from '@webhooks/testkit/account';
import { startChild } from './child.js';
import type { TargetPlan } from './send.js';

/** Events of one run, round robin over tenants; the same seed gives the same events. */
interface EventPlan {
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

export interface LoadPlan {
  readonly events: EventPlan;
  readonly target: TargetPlan;
  /** Absent: a flood, as many as are taken. */
  readonly perSecond: number | undefined;
  /** So many of the events are sent first and not measured: connections are opened and code is compiled. */
  readonly warmUp: number;
  /** Keys that say nothing of the payment, as another payment system may choose them. */
  readonly foreignKeys: boolean;
}

/** What a generator has sent. */
export interface Load {
  /** In the order of the events, those of the warm-up included. */
  readonly acceptances: readonly Acceptance[];
  /** Of what is measured: first event sent, and last acknowledgement; monotonic microseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** CPU of the generator in between, in microseconds. */
  readonly cpuMicros: number;
  /** How much later than scheduled events were sent, in microseconds: 99 % of them; 0 for a flood. */
  readonly lateMicros: number;
}

export type GeneratorReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sent'; readonly load: Load }
  | { readonly kind: 'failed'; readonly why: string };

/** A generator that has made its events and is connected. */
export async function startGenerator(plan: LoadPlan) {
  const child = startChild<GeneratorReport>('generator-main.js', plan);
  await child.reported('ready');
  return {
    pid: child.pid,
    stop: child.stop,
    /** Starts it. Resolves when the last event was acknowledged; rejects when one was not. */
    go: async (): Promise<Load> => {
      const sent = child.reported('sent');
      child.send({ kind: 'go' });
      return (await sent).load;
    },
  };
}
export type Generator = Awaited<ReturnType<typeof startGenerator>>;
