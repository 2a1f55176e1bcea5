import { COSTS } from '@webhooks/testkit';
import type { Cost } from '@webhooks/testkit';
import { startGenerator } from '../load/generator.js';
import { startReceiver } from '../load/receiver.js';
import { percentilesOf } from '../measure/times.js';
import { atMost, figure } from '../report.js';
import type { Shown } from '../report.js';
import type { Scenario, Sizes, Stage } from '../scenario.js';
import { nextSeed, runLoad } from '../world/run.js';
import type { RunResult } from '../world/run.js';
import { registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';
import { percentileFigures, showRuns } from './run-report.js';

const QUIET = 'quiet';
const QUIET_PER_SECOND = 20;
const ATTACK_PER_SECOND = 10;
const WORST_SECONDS = 10;
const WORST_P99_MS = 500;

/** Each event of a tenant is owed to `count` webhooks, each at such a host with a port of its own. */
async function prepare(world: World, cost: Cost, { count, seconds }: Sizes): Promise<() => Promise<void>> {
  const { tls, kafkaBrokers: brokers } = world.stack.description();
  const receiver = await startReceiver({ ...tls, ports: count, cost });
  await registerFanOut({ ...world, receiver }, cost, count);
  const generator = await startGenerator({
    events: { count: ATTACK_PER_SECOND * seconds, seed: nextSeed(), tenants: [cost] },
    target: { kind: 'topic', brokers },
    perSecond: ATTACK_PER_SECOND,
    warmUp: 0,
    foreignKeys: false,
  });
  return async () => {
    await generator.go().finally(() => generator.stop());
    await receiver.stop();
  };
}

function show(result: RunResult, seconds: number): Shown {
  const between = (from: number, until: number) => {
    const micros = (second: number): number => result.load.startedAt + 1_000_000 * second;
    return percentilesOf(result.ledger.latencies('acknowledgedAt', { due: [micros(from), micros(until)] }));
  };
  const starts = Array.from({ length: Math.max(1, seconds - WORST_SECONDS) }, (_, second) => second);
  const p99s = starts.map((second) => between(second, second + WORST_SECONDS).p99);
  return showRuns(
    [result],
    [
      ...percentileFigures('another tenant, acknowledgement to arrival', between(0, Infinity)),
      figure('p99 in its worst ten seconds', Math.max(...p99s) / 1_000, 'ms', atMost(WORST_P99_MS)),
    ],
  );
}

/** Deliveries of another tenant meanwhile. */
async function measure({ sizes, openWorld, run }: Stage): Promise<void> {
  const { seconds } = sizes;
  const world = await openWorld({ tenants: [QUIET, ...COSTS], ports: 1 });
  const endpoints = await registerFanOut(world, QUIET, 1);
  const load = { perSecond: QUIET_PER_SECOND, seconds };
  await runLoad(world, endpoints, load);
  for (const cost of COSTS) {
    const meanwhile = await prepare(world, cost, sizes);
    await run(`a tenant attacks: ${cost}`, async () =>
      show(await runLoad(world, endpoints, load, { meanwhile }), seconds),
    );
  }
}

export const attacks: Scenario = {
  title:
    'a tenant whose endpoints make the worker compute beside a quiet one; count: webhooks for each of its 10 events/s, seconds: of each attack',
  usual: { count: 16, seconds: 20 },
  whole: { count: 32, seconds: 60 },
  measure,
};
