import { setTimeout as delay } from 'node:timers/promises';
import { beginUsage, percentilesOf } from '../measure.js';
import {
  atLeast,
  atMost,
  deliveriesPerSecond,
  figure,
  othersFigure,
  percentileFigures,
  showRuns,
  systemCpu,
} from '../report.js';
import type { Figure, Measurement } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { runLoad, throughIngest } from '../world/run.js';
import type { Schedule } from '../world/run.js';
import { registerFanOut, waitForProjections } from '../world/world.js';
import type { Endpoints, World } from '../world/world.js';
import { besideReference } from './throughput.js';

const TENANT = 'rates';
/** Events a second: a small operator's, a large one's, and about half of what two cores deliver with everything on them. */
const RATES = [200, 1_000, 3_000, 4_000];
/** The embedded database takes as many attempts a second for a while. */
const MOST_WITH_LOG = 1_000;
/** The rates that are measured. */
export const ratesOf = (withQueryApi: boolean): readonly number[] =>
  RATES.filter((rate) => !withQueryApi || rate <= MOST_WITH_LOG);
/** From the response to a post to the arrival of its event, milliseconds. */
const LATENCY = { p50: atMost(5), p99: atMost(25) };
/** Before the first load, so that code is compiled. A broker compiles it after some 10,000 requests, and a faster load has more events in one request. */
export const WARM_UP = { perSecond: MOST_WITH_LOG, seconds: 20 };

/**
 * Loads at the limit, with the limits for the deliveries each second, and for the system's CPU time for each delivery as a multiple of the
 * reference's for a post. CPU time of broker and database counts too.
 */
const CASES = [
  { through: 'ingest', fanOut: 1, rate: atLeast(6_500), cost: atMost(10) },
  { through: 'ingest', fanOut: 5, rate: atLeast(12_000), cost: atMost(5) },
  { through: 'topic', fanOut: 1, rate: undefined, cost: atMost(6) },
  { through: 'topic', fanOut: 5, rate: undefined, cost: atMost(4) },
] as const;
type Case = (typeof CASES)[number];
const tenantOf = ({ through, fanOut }: Case): string => `${through}-${fanOut}`;

type Requests = ReadonlyMap<string, number>;

/** Reads how many requests to Kafka each service has made, by service and request. */
async function readRequests({ stack, pids }: World): Promise<Requests> {
  const running = Object.entries(stack.description().admin).filter(([service]) => service in pids());
  const found = running.map(async ([service, url]) => {
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) });
    const lines = (await response.text()).matchAll(/^kafka_requests_total\{request="(\w+)"\} (\d+)$/gm);
    return [...lines].map(([, request, count]) => [`${service}: ${request}`, Number(count)] as const);
  });
  return new Map((await Promise.all(found)).flat());
}

/** The requests of each kind between two readings, for each of `count` events or seconds. */
const requestFigures = (before: Requests, after: Requests, count: number): readonly Figure[] =>
  [...after].flatMap(([name, all]) => {
    const made = all - (before.get(name) ?? 0);
    return made === 0 ? [] : figure(name, made / count, 'requests');
  });

async function measureIdle(world: World, seconds: number): Promise<Measurement> {
  const before = await readRequests(world);
  const endUsage = beginUsage(world.pids());
  await delay(1_000 * seconds);
  const { processes, othersPercent } = endUsage(world.pids());
  return {
    account: 'nothing is sent',
    figures: [...requestFigures(before, await readRequests(world), seconds), othersFigure(othersPercent)],
    usage: { count: seconds, each: 'second', processes },
  };
}

async function measureRate(world: World, endpoints: Endpoints, load: Schedule): Promise<Measurement> {
  const before = await readRequests(world);
  const run = await runLoad(world, endpoints, load, { target: await throughIngest(world) });
  return showRuns(
    [run],
    [
      figure('CPU of the whole system for each delivery', systemCpu([run]), 'µs'),
      ...percentileFigures(
        'acknowledgement to arrival',
        percentilesOf(run.account.latencies('acknowledgedAt')),
        LATENCY,
      ),
      figure('due to arrival, p99', percentilesOf(run.account.latencies('dueAt')).p99 / 1_000, 'ms'),
      ...requestFigures(before, await readRequests(world), run.totals.delivered),
    ],
  );
}

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

async function measureWorld(context: ScenarioContext, withQueryApi: boolean): Promise<void> {
  const { seconds, count } = context.sizes;
  const ports = Math.max(...CASES.map(({ fanOut }) => fanOut));
  const world = await context.openWorld({ tenants: [TENANT, ...CASES.map(tenantOf)], ports, withQueryApi });
  const endpoints = await registerFanOut(world, TENANT, 1);
  await runLoad(world, endpoints, WARM_UP, { target: await throughIngest(world) });
  if (withQueryApi) await waitForProjections(world);
  const beside = withQueryApi ? ', with query-api' : '';
  await context.run(`idle${beside}`, () => measureIdle(world, seconds));
  for (const perSecond of ratesOf(withQueryApi))
    await context.run(`${perSecond} posts a second${beside}`, () =>
      measureRate(world, endpoints, { perSecond, seconds }),
    );
  for (const one of withQueryApi ? [] : CASES) {
    const way = one.through === 'ingest' ? 'posted to ingest one by one' : 'produced to the topic';
    await context.run(`${way}, fan-out ${one.fanOut}`, () => measureCase(world, one, count));
  }
}

/**
 * Measures how long an event takes and what it costs, idle, at fixed rates and at the limit: CPU time, requests to Kafka by kind,
 * wake-ups, calls of the kernel and their bytes.
 */
async function measure(context: ScenarioContext): Promise<void> {
  for (const withQueryApi of [false, true]) await measureWorld(context, withQueryApi);
}

export const wholeSystem: Scenario = {
  title:
    'an idle stack, single events at 200 to 4,000 a second, and events at the limit, posted and produced to the topic; seconds: idle and each rate, count: events at the limit',
  usual: { count: 20_000, seconds: 15 },
  whole: { count: 200_000, seconds: 60 },
  measure,
};
