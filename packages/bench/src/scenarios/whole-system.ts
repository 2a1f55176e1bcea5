import { atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { ingestDoor } from '../world/doors.js';
import { flood, openLoop, warmUpFully } from '../world/flood.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint } from '../world/world.js';
import { trackReference } from './reference-track.js';
import { latenessFigures, percentileFigures, runReport } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';
import { flowOf, pooled, registerTen, tenTenants } from './ten-endpoints.js';
import { CONNECTIONS, measureCase, singlePosts } from './whole-system-case.js';
import type { WholeCase, WholeParts } from './whole-system-case.js';
import { measureWithQueryApi } from './whole-system-query.js';

const FIVE = 5;
/** Java goes on compiling the broker: 57 µs of its CPU time for each post at first, 43 after 100,000, 33 after 300,000. */
const MOST_WARM_UP_POSTS = 150_000;
/** Of the run's own count, when that is small. */
const WARM_UP_TIMES = 3;
/** The hanging endpoint answers after 30 s, when the worker has long given up. */
const HANG_MS = 30_000;
/** Load of the runs with ten endpoints, as a share of what one endpoint gets through the whole system. */
const LOAD_SHARE = 0.5;
const P99_TIMES = 2;

const CASES: readonly WholeCase[] = [
  { name: 'POST of single events, fan-out 1', fanOut: 1, through: 'ingest', perSecond: 6_500, times: 10 },
  { name: 'POST of single events, fan-out 5', fanOut: 5, through: 'ingest', perSecond: 12_000, times: 5 },
  { name: 'produced to the topic, fan-out 1', fanOut: 1, through: 'topic', times: 6 },
  { name: 'produced to the topic, fan-out 5', fanOut: 5, through: 'topic', times: 4 },
];

const tenantOf = (fanOut: number): string => `whole-${fanOut}`;

interface TenCase {
  readonly name: string;
  /** Names its tenants. */
  readonly run: string;
  readonly perSecond: number;
  readonly hangs: boolean;
  /** Healthy p99 when none hangs, in microseconds. */
  readonly without?: number | undefined;
}

/** Ten endpoints at a fixed rate through `ingest`; returns the p99 of the first nine, from due to first byte. */
async function measureTen(
  { stage, world }: Pick<WholeParts, 'stage' | 'world'>,
  { name, run, perSecond, hangs, without }: TenCase,
): Promise<number | undefined> {
  return stage.run(name, async () => {
    const endpoints = await registerTen(world, run);
    const last = endpoints.at(-1)?.path ?? '';
    const isHealthy = (path: string): boolean => path !== last;
    if (hangs) world.receiver.behave(last, { kind: 'answer', status: 200, delayMs: HANG_MS });
    const door = await ingestDoor(world, CONNECTIONS);
    const more = { door, batch: 1, ...(hangs ? { mayWait: (path: string) => path === last } : {}) };
    const result = await openLoop(world, endpoints, { perSecond, seconds: stage.sizes.seconds }, more);
    const latencies = pooled(result, 'due', isHealthy);
    const { backlog } = flowOf(result.ledger, isHealthy);
    const times: readonly Figure[] =
      without !== undefined
        ? [
            {
              name: 'healthy p99, times that without',
              value: latencies.p99 / without,
              unit: '×',
              bar: atMost(P99_TIMES),
            },
          ]
        : [];
    stage.report(
      runReport(name, result, [
        { name: 'events each second', value: perSecond, unit: '1/s' },
        ...percentileFigures('healthy, due to first byte', latencies),
        ...times,
        // A second's worth of events: a backlog that grows is far above that when the schedule ends.
        {
          name: 'healthy events under way at the end of the schedule',
          value: backlog,
          unit: '',
          ...(hangs ? { bar: atMost(perSecond) } : {}),
        },
        ...latenessFigures(result),
      ]),
    );
    return latencies.p99;
  });
}

/** Ten healthy endpoints, and then one of them hanging. */
async function measureTens(parts: WholeParts, perSecond: number): Promise<void> {
  const well = await measureTen(parts, {
    name: 'POST at half of that rate, ten endpoints',
    run: 'whole-well',
    perSecond,
    hangs: false,
  });
  const hang = {
    name: 'POST at half of that rate, one of ten hangs for 30 s',
    run: 'whole-hang',
    perSecond,
    hangs: true,
  };
  await measureTen(parts, { ...hang, without: well });
}

async function measure(stage: Stage): Promise<void> {
  const tenants = [tenantOf(1), tenantOf(FIVE), ...tenTenants('whole-well'), ...tenTenants('whole-hang')];
  const world = await stage.openWorld({ tenants, ports: 10 });
  const open = (fanOut: number): Promise<readonly BenchEndpoint[]> =>
    registerEndpoints(
      world,
      Array.from({ length: fanOut }, (_, index) => ({
        tenantId: tenantOf(fanOut),
        path: `/whole-${fanOut}/${index}`,
      })),
    );
  const endpoints = { 1: await open(1), 5: await open(FIVE) };
  await stage.run('warm-up', async () => {
    await warmUpFully(world, [endpoints[1]], stage.sizes.count);
    const posts = Math.min(MOST_WARM_UP_POSTS, WARM_UP_TIMES * stage.sizes.count);
    await flood(world, endpoints[1], posts, await singlePosts(world));
  });
  const parts = { stage, world, track: trackReference(world) };
  const rates: (number | undefined)[] = [];
  for (const one of CASES) rates.push(await measureCase(parts, one, endpoints[one.fanOut]));
  const perSecond = (rates[0] ?? 0) * LOAD_SHARE;
  if (perSecond > 0) await measureTens(parts, perSecond);
  await world.close();
  await measureWithQueryApi(stage);
}

export const wholeSystem: Scenario = {
  title:
    'single events posted to ingest over 64 connections, to one endpoint and to five, and with one of ten hanging; broker and database counted, and both ways in once more with query-api running; count: events, seconds: with ten endpoints',
  usual: { count: 20_000, seconds: 12 },
  whole: { count: 200_000, seconds: 120 },
  measure,
};
