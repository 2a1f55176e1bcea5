import { atLeast, atMost, figure, deliveriesPerSecond, showRuns, systemCpu } from '../report.js';
import type { Bar, Measurement } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';
import { runLoad, throughIngest, warmUpWorker } from '../world/run.js';
import { besideReference } from './throughput.js';

/** A load at the limit through one of the two ingresses. CPU time of broker and database counts too. */
interface Case {
  readonly through: 'ingest' | 'topic';
  readonly fanOut: number;
  /** Limit for the deliveries each second. */
  readonly rate?: Bar;
  /** Limit for the system's CPU time for each delivery, as a multiple of the reference's for a post. */
  readonly cost: Bar;
}

const CASES: readonly Case[] = [
  { through: 'ingest', fanOut: 1, rate: atLeast(6_500), cost: atMost(10) },
  { through: 'ingest', fanOut: 5, rate: atLeast(12_000), cost: atMost(5) },
  { through: 'topic', fanOut: 1, cost: atMost(6) },
  { through: 'topic', fanOut: 5, cost: atMost(4) },
];
/** Java keeps compiling the broker: 57 µs of its CPU time for each post at first, 43 after 100,000, 33 after 300,000. */
const MOST_WARM_UP_POSTS = 150_000;
/** Multiple of the run's own count, which applies when it is smaller. */
const WARM_UP_TIMES = 3;
const WARM_UP = 'warm-up';

const tenantOf = ({ through, fanOut }: Case): string => `${through}-${fanOut}`;

async function measureCase(world: World, one: Case, count: number): Promise<Measurement> {
  const endpoints = await registerFanOut(world, tenantOf(one), one.fanOut);
  const target = one.through === 'ingest' ? { target: await throughIngest(world) } : {};
  const { runs, referenceMicros } = await besideReference(world, 1, () =>
    runLoad(world, endpoints, { count: Math.ceil(count / Math.sqrt(one.fanOut)) }, target),
  );
  const cpu = systemCpu(runs);
  return showRuns(runs, [
    figure('deliveries each second', deliveriesPerSecond(runs), '1/s', one.rate),
    figure('CPU of the whole system for each delivery', cpu, 'µs'),
    figure('CPU of the reference for each post', referenceMicros, 'µs'),
    figure("times the reference's CPU for a post", cpu / referenceMicros, '×', one.cost),
  ]);
}

async function measure(context: ScenarioContext): Promise<void> {
  const { count } = context.sizes;
  const ports = Math.max(...CASES.map(({ fanOut }) => fanOut));
  const world = await context.openWorld({ tenants: [WARM_UP, ...CASES.map(tenantOf)], ports });
  const warm = await registerFanOut(world, WARM_UP, 1);
  await warmUpWorker(world, warm, count);
  const posts = Math.min(MOST_WARM_UP_POSTS, WARM_UP_TIMES * count);
  await runLoad(world, warm, { count: posts }, { target: await throughIngest(world) });
  for (const one of CASES) {
    const way = one.through === 'ingest' ? 'posted to ingest one by one' : 'produced to the topic';
    await context.run(`${way}, fan-out ${one.fanOut}`, () => measureCase(world, one, count));
  }
}

export const wholeSystem: Scenario = {
  title:
    'single events posted to ingest and produced to the topic, to one endpoint and to five; broker and database counted; count: events',
  usual: { count: 20_000, seconds: 0 },
  whole: { count: 200_000, seconds: 0 },
  measure,
};
