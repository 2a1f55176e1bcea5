import { COSTS } from '@webhooks/testkit';
import type { Cost } from '@webhooks/testkit';
import { registerWebhooks } from '@webhooks/ledger';
import { startChild } from '../load/child.js';
import type { CostlyPlan } from '../load/costly-main.js';
import { startGenerator } from '../load/generator.js';
import { BENCH_EVENT_TYPE } from '../load/make-events.js';
import type { ReceiverReport } from '../load/receiver.js';
import { percentilesOf } from '../measure/percentiles.js';
import { atMost, figure } from '../report.js';
import type { Scenario, Stage } from '../scenario.js';
import { nextSeed, openLoop } from '../world/run.js';
import type { Schedule } from '../world/run.js';
import { clientOf, registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';
import { percentileFigures, showRuns } from './run-report.js';

/** What one tenant does to the others, once it is prepared. */
type Attack = (
  world: World,
  tenantId: string,
  webhooks: number,
) => Promise<(seconds: number) => Promise<void>>;

const QUIET = 'quiet';
const QUIET_PER_SECOND = 20;
const ATTACK_PER_SECOND = 10;
const WORST_SECONDS = 10;
const WORST_P99_MS = 500;

/** Each event of the tenant is owed to so many webhooks, each at such a host with a port of its own. */
const atHosts =
  (cost: Cost): Attack =>
  async (world, tenantId, webhooks) => {
    const { tls, kafkaBrokers: brokers } = world.stack.description();
    const plan: CostlyPlan = { ...tls, cost, ports: webhooks };
    const hosts = startChild<ReceiverReport>('costly-main.js', plan);
    const { origins } = await hosts.reported('listening');
    const wanted = origins.map(
      (origin) => ({ eventType: BENCH_EVENT_TYPE, endpointUrl: `${origin}/` }) as const,
    );
    await registerWebhooks(clientOf(world, tenantId), wanted);
    return async (seconds) => {
      const events = { count: ATTACK_PER_SECOND * seconds, seed: nextSeed(), tenants: [tenantId] };
      const load = { perSecond: ATTACK_PER_SECOND, warmUp: 0, foreignKeys: false };
      const generator = await startGenerator({ events, target: { kind: 'topic', brokers }, ...load });
      await generator.go().finally(() => generator.stop());
      await hosts.stop();
    };
  };

/** One run for each. */
const ATTACKS: Readonly<Record<string, Attack>> = Object.fromEntries(
  COSTS.map((cost) => [cost, atHosts(cost)]),
);

/** Deliveries of another tenant meanwhile: the 99th percentile of the ten seconds in which it is worst. */
async function measure({ sizes, openWorld, run }: Stage): Promise<void> {
  const world = await openWorld({ tenants: [QUIET, ...Object.keys(ATTACKS)], ports: 1 });
  const endpoints = await registerFanOut(world, QUIET, 1);
  const load: Schedule = { perSecond: QUIET_PER_SECOND, seconds: sizes.seconds };
  await openLoop(world, endpoints, load);
  for (const [name, attack] of Object.entries(ATTACKS)) {
    const begin = await attack(world, name, sizes.count);
    await run(`a tenant attacks: ${name}`, async () => {
      const result = await openLoop(world, endpoints, load, { meanwhile: () => begin(sizes.seconds) });
      const between = (from: number, seconds: number) => {
        const due = [from, from + 1_000_000 * seconds] as const;
        return percentilesOf(result.ledger.latencies('acknowledgedAt', { due }));
      };
      const { startedAt } = result.load;
      const starts = Array.from(
        { length: Math.max(1, sizes.seconds - WORST_SECONDS) },
        (_, second) => second,
      );
      const p99s = starts.map((second) => between(startedAt + 1_000_000 * second, WORST_SECONDS).p99);
      return showRuns(
        [result],
        [
          ...percentileFigures('another tenant, acknowledgement to arrival', between(startedAt, Infinity)),
          figure('p99 in its worst ten seconds', Math.max(...p99s) / 1_000, 'ms', atMost(WORST_P99_MS)),
        ],
      );
    });
  }
}

export const attacks: Scenario = {
  title:
    'a tenant whose endpoints make the worker compute beside a quiet one; count: webhooks for each of its 10 events/s, seconds: of each attack',
  usual: { count: 16, seconds: 20 },
  whole: { count: 32, seconds: 60 },
  measure,
};
