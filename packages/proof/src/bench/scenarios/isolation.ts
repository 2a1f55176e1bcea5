import { setTimeout as delay } from 'node:timers/promises';
import type { Reply } from '@webhooks/testkit';
import { monotonicMicros, percentilesOf } from '../measure.js';
import { atLeast, atMost, figure, percentileFigures, showRuns } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { findThroughput, runLoad } from '../world/run.js';
import type { RunOptions, Schedule } from '../world/run.js';
import { ENDPOINTS, isPathOf, registerTen, tenTenants } from '../world/world.js';
import type { Endpoints, World } from '../world/world.js';

/** Replies of the last three of the ten endpoints while they are bad. */
const BAD: readonly Reply[] = [
  { kind: 'hang' },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 200, delayMs: 9_000 },
];
const P99_TIMES = 2;
const THROUGHPUT_PERCENT = 90;
/** Not in the figures: connections are opened, the code that defers is compiled, the retry topics get their first segments. */
const LEAD_IN_SECONDS = 4;
/** Each run has its own endpoints, so late deliveries of bad ones do not enter the next run's delivery account. */
const RUNS = ['warm-up', 'load', 'healthy-flood', 'bad-flood'];

const isHealthyIn = (endpoints: Endpoints) => isPathOf(endpoints.slice(0, -BAD.length));
const isBadIn = (endpoints: Endpoints) => isPathOf(endpoints.slice(-BAD.length));

function makeBad({ receiver }: World, endpoints: Endpoints): void {
  for (const [index, { path }] of endpoints.slice(-BAD.length).entries())
    receiver.replyAt(path, BAD[index] ?? { kind: 'hang' });
}

/** Warms up the retry path: bad endpoints defer deliveries, all of which are delivered before anything is measured. */
async function deferOnce(world: World, endpoints: Endpoints, perSecond: number): Promise<void> {
  makeBad(world, endpoints);
  const load = { perSecond, seconds: LEAD_IN_SECONDS };
  await runLoad(world, endpoints, load, {
    meanwhile: async (sent) => {
      await sent;
      for (const { path } of endpoints) world.receiver.replyAt(path, { kind: 'status', status: 200 });
    },
  });
}

/**
 * Measures a continuous load while three of ten endpoints turn bad. Both halves have open connections, and the moment of the change counts.
 */
async function turnBad(world: World, endpoints: Endpoints, { perSecond, seconds }: Schedule) {
  let badAt = 0;
  const load = { perSecond, seconds: LEAD_IN_SECONDS + 2 * seconds };
  const result = await runLoad(world, endpoints, load, {
    mayWait: isBadIn(endpoints),
    meanwhile: async () => {
      await delay(1_000 * (LEAD_IN_SECONDS + seconds));
      badAt = monotonicMicros();
      makeBad(world, endpoints);
    },
  });
  const isPath = isHealthyIn(endpoints);
  const between = (from: number, until: number) =>
    percentilesOf(result.account.latencies('acknowledgedAt', { isPath, due: [from, until] }));
  const [before, after] = [between(badAt - 1_000_000 * seconds, badAt), between(badAt, Infinity)];
  return showRuns(
    [result],
    [
      ...percentileFigures('healthy before, acknowledgement to arrival', before),
      ...percentileFigures('healthy after, acknowledgement to arrival', after),
      figure('healthy p99, times that before', after.p99 / before.p99, '×', atMost(P99_TIMES)),
    ],
  );
}

/** Returns the deliveries each second of the first seven endpoints at the limit, until the last of them. */
async function floodTen(world: World, endpoints: Endpoints, count: number, options: RunOptions = {}) {
  const result = await runLoad(world, endpoints, { count }, options);
  const arrivals = result.account.arrivals({ isPath: isHealthyIn(endpoints) });
  const rate = (arrivals.length * 1_000_000) / ((arrivals.at(-1) ?? NaN) - result.load.startedAt);
  return { result, rate };
}

/** Measures half load while three endpoints turn bad. Then, at the limit: ten healthy endpoints, and three bad ones among ten others. */
async function measure(context: ScenarioContext): Promise<void> {
  const { count, seconds } = context.sizes;
  const world = await context.openWorld({ tenants: RUNS.flatMap(tenTenants), ports: ENDPOINTS });
  const opened = await Promise.all(RUNS.map((run) => registerTen(world, run)));
  const [warmUp = [], load = [], healthy = [], bad = []] = opened;
  const perSecond = (await findThroughput(world, healthy)) / 2;
  await deferOnce(world, warmUp, perSecond);
  await context.run('half load, three of ten turn bad', () => turnBad(world, load, { perSecond, seconds }));
  let without = NaN;
  await context.run('at the limit, ten healthy', async () => {
    const { result, rate } = await floodTen(world, healthy, count);
    without = rate;
    return showRuns([result], [figure('deliveries each second of seven', rate, '1/s')]);
  });
  makeBad(world, bad);
  await context.run('at the limit, three bad', async () => {
    const { result, rate } = await floodTen(world, bad, count, { mayWait: isBadIn(bad) });
    const figures = [
      figure('deliveries each second of the healthy seven', rate, '1/s'),
      figure('share of that without', (100 * rate) / without, '%', atLeast(THROUGHPUT_PERCENT)),
    ];
    return showRuns([result], figures);
  });
}

export const isolation: Scenario = {
  title:
    'ten endpoints, then one that hangs, one that responds 500 and one that takes 9 s among them; seconds: of the half load, before and after, count: events at the limit',
  usual: { count: 100_000, seconds: 12 },
  whole: { count: 200_000, seconds: 120 },
  measure,
};
