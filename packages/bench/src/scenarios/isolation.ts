import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMicros } from '../measure/clock.js';
import type { Percentiles } from '../measure/histogram.js';
import { atLeast, atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import type { Behaviour } from '../receiver/behaviour.js';
import { flood, openLoop, tenantsOf } from '../world/flood.js';
import type { RunResult } from '../world/run-plan.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { findThroughput } from './find-throughput.js';
import { latenessFigures, percentileFigures, runReport } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';
import { flowOf, pooled, registerTen, tenTenants } from './ten-endpoints.js';

/** What the last three of the ten do while they are bad. */
const BAD: readonly Behaviour[] = [
  { kind: 'hang' },
  { kind: 'answer', status: 500, delayMs: 0 },
  { kind: 'answer', status: 200, delayMs: 9_000 },
];
const WELL: Behaviour = { kind: 'answer', status: 200, delayMs: 0 };
const HEALTHY = 10 - BAD.length;
const P99_TIMES = 2;
const THROUGHPUT_PERCENT = 90;
/** Connections are opened; not in the figures. */
const LEAD_IN_SECONDS = 4;
/**
 * Until the code that parks is compiled and the retry topics have their first segments: once in the life of a process. What is
 * parked then is delivered before anything is measured.
 */
const WARM_UP_SECONDS = 3;
/** Each run has endpoints of its own: what the bad ones are still owed does not get into the next run's ledger. */
const RUNS = ['warm-up', 'load', 'healthy-flood', 'bad-flood'] as const;
type RunName = (typeof RUNS)[number];

const isHealthyIn = (endpoints: readonly BenchEndpoint[]) => {
  const paths = new Set(endpoints.slice(0, HEALTHY).map(({ path }) => path));
  return (path: string): boolean => paths.has(path);
};

function spoil({ receiver }: World, endpoints: readonly BenchEndpoint[]): void {
  for (const [index, behaviour] of BAD.entries())
    receiver.behave(endpoints[HEALTHY + index]?.path ?? '', behaviour);
}

interface Runs {
  readonly stage: Stage;
  readonly world: World;
  readonly opened: Readonly<Record<RunName, readonly BenchEndpoint[]>>;
  readonly perSecond: number;
}

/** Percentiles of the healthy ones, by when their events were due. */
interface Halves {
  readonly result: RunResult;
  readonly before: Percentiles;
  readonly after: Percentiles;
}

const mayWait = (endpoints: readonly BenchEndpoint[]) => {
  const isHealthy = isHealthyIn(endpoints);
  return { mayWait: (path: string): boolean => !isHealthy(path) };
};

/** The load goes on while three of ten turn bad: both halves have open connections, and the turn itself counts. */
async function turnBad({ world, opened, perSecond }: Runs, seconds: number): Promise<Halves> {
  const endpoints = opened.load;
  const isHealthy = isHealthyIn(endpoints);
  let badAt = 0;
  const load = { perSecond, seconds: LEAD_IN_SECONDS + 2 * seconds };
  const result = await openLoop(world, endpoints, load, {
    ...mayWait(endpoints),
    meanwhile: async () => {
      await delay(1_000 * (LEAD_IN_SECONDS + seconds));
      badAt = monotonicMicros();
      spoil(world, endpoints);
    },
  });
  const between = (from: number, until: number) => pooled(result, 'acknowledged', isHealthy, [from, until]);
  return { result, before: between(badAt - 1_000_000 * seconds, badAt), after: between(badAt, Infinity) };
}

async function parkOnce({ world, opened, perSecond }: Runs): Promise<void> {
  const endpoints = opened['warm-up'];
  spoil(world, endpoints);
  const heal = (): Promise<void> => {
    for (const { path } of endpoints) world.receiver.behave(path, WELL);
    return Promise.resolve();
  };
  await openLoop(world, endpoints, { perSecond, seconds: WARM_UP_SECONDS }, { afterwards: heal });
}

/** At half load: percentiles of the healthy seven, without and with three bad ones beside them. */
async function compareLatency(runs: Runs): Promise<void> {
  const { stage } = runs;
  await stage.run('warm-up', () => parkOnce(runs));
  const run = 'half load, three of ten turn bad';
  await stage.run(run, async () => {
    const { result, before, after } = await turnBad(runs, stage.sizes.seconds);
    const times = { name: 'healthy p99, times that before', unit: '×', bar: atMost(P99_TIMES) };
    stage.report(
      runReport(run, result, [
        ...percentileFigures('healthy before, acknowledgement to first byte', before),
        ...percentileFigures('healthy after, acknowledgement to first byte', after),
        { ...times, value: after.p99 / before.p99 },
        ...latenessFigures(result),
      ]),
    );
  });
}

/** At the limit: deliveries each second of the healthy seven, without and with three bad ones beside them. */
async function compareThroughput({ stage, world, opened }: Runs): Promise<void> {
  const count = stage.sizes.count;
  const flowFigure = (perSecond: number): Figure => ({
    name: 'healthy deliveries each second',
    value: perSecond,
    unit: '1/s',
  });
  const before = await stage.run('at the limit, ten healthy', async () => {
    const result = await flood(world, opened['healthy-flood'], count);
    const { perSecond } = flowOf(result.ledger, isHealthyIn(opened['healthy-flood']));
    stage.report(runReport('at the limit, ten healthy', result, [flowFigure(perSecond)]));
    return perSecond;
  });
  spoil(world, opened['bad-flood']);
  await stage.run('at the limit, three bad', async () => {
    const endpoints = opened['bad-flood'];
    const result = await flood(world, endpoints, count, mayWait(endpoints));
    const { perSecond } = flowOf(result.ledger, isHealthyIn(endpoints));
    const share = {
      name: 'healthy throughput, share of that without',
      unit: '%',
      bar: atLeast(THROUGHPUT_PERCENT),
    };
    const figures = before ? [{ ...share, value: (100 * perSecond) / before }] : [];
    stage.report(runReport('at the limit, three bad', result, [flowFigure(perSecond), ...figures]));
  });
}

async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: RUNS.flatMap(tenTenants), ports: 10 });
  const opened = {
    'warm-up': await registerTen(world, 'warm-up'),
    load: await registerTen(world, 'load'),
    'healthy-flood': await registerTen(world, 'healthy-flood'),
    'bad-flood': await registerTen(world, 'bad-flood'),
  };
  const limit = await stage.run('throughput', () => findThroughput(stage, world, opened['healthy-flood']));
  if (limit === undefined) return;
  stage.print(
    `  ${tenantsOf(opened.load).length} endpoints: ${HEALTHY} healthy; one hangs, one answers 500, one answers after 9 s`,
  );
  const runs = { stage, world, opened, perSecond: limit / 2 };
  await compareLatency(runs);
  await compareThroughput(runs);
}

export const isolation: Scenario = {
  title:
    'ten endpoints, then one that hangs, one that answers 500 and one that takes 9 s among them; seconds: of the half load, before and after, count: events at the limit',
  usual: { count: 100_000, seconds: 12 },
  whole: { count: 200_000, seconds: 120 },
  measure,
};
