import { setTimeout as delay } from 'node:timers/promises';
import { beginUsage, percentilesOf } from '../measure.js';
import { figure, othersFigure, percentileFigures, showRuns, systemCpu } from '../report.js';
import type { Figure, Measurement } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { runLoad, throughIngest, warmUpWorker } from '../world/run.js';
import type { Schedule } from '../world/run.js';
import { registerFanOut, waitForProjections } from '../world/world.js';
import type { Endpoints, World } from '../world/world.js';

const TENANT = 'work';
/** Events a second: a small operator's, a large one's, and near what two cores deliver with everything on them. */
const RATES = [200, 1_000, 3_000, 4_000];
/** The embedded database takes as many attempts a second for a while. */
const MOST_WITH_LOG = 1_000;
/** Deliveries before the first load, so that most code is compiled, in the broker too. */
const WARM_UP = 20_000;

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
  const after = await readRequests(world);
  return showRuns(
    [run],
    [
      figure('CPU of the whole system for each delivery', systemCpu([run]), 'µs'),
      ...percentileFigures(
        'acknowledgement to arrival',
        percentilesOf(run.account.latencies('acknowledgedAt')),
      ),
      ...requestFigures(before, after, run.totals.delivered),
    ],
  );
}

async function measureWorld(context: ScenarioContext, withQueryApi: boolean): Promise<void> {
  const world = await context.openWorld({ tenants: [TENANT], ports: 1, withQueryApi });
  const endpoints = await registerFanOut(world, TENANT, 1);
  await warmUpWorker(world, endpoints, WARM_UP);
  if (withQueryApi) await waitForProjections(world);
  const { seconds } = context.sizes;
  const beside = withQueryApi ? ', with query-api' : '';
  await context.run(`idle${beside}`, () => measureIdle(world, seconds));
  for (const perSecond of RATES.filter((rate) => !withQueryApi || rate <= MOST_WITH_LOG))
    await context.run(`${perSecond} posts a second${beside}`, () =>
      measureRate(world, endpoints, { perSecond, seconds }),
    );
}

/** Counts what an event costs beside CPU time: requests to Kafka by kind, wake-ups, calls of the kernel and their bytes. */
async function measure(context: ScenarioContext): Promise<void> {
  for (const withQueryApi of [false, true]) await measureWorld(context, withQueryApi);
}

export const work: Scenario = {
  title: 'what an event costs at 200, 1,000, 3,000 and 4,000 posts a second, and idle; seconds: of each load',
  usual: { count: 0, seconds: 15 },
  whole: { count: 0, seconds: 60 },
  measure,
};
