import { atLeast } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { sumRuns } from '../measure/sum-runs.js';
import type { RunSums } from '../measure/sum-runs.js';
import { meanReference } from '../reference/measure-reference.js';
import type { Reference } from '../reference/measure-reference.js';
import { flood, warmUpFully } from '../world/flood.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { runReport, workerCpu } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';
import { trackReference } from './reference-track.js';
import type { ReferenceTrack } from './reference-track.js';

interface Case {
  readonly fanOut: number;
  readonly delayMs: number;
}

const CASES: readonly Case[] = [0, 50, 250].flatMap((delayMs) =>
  [1, 5].map((fanOut) => ({ fanOut, delayMs })),
);
/** Share of the reference's deliveries for each CPU second, in percent. */
const SHARE_PERCENT = 50;
/** `ENDPOINT_CONCURRENCY`: an endpoint that takes d ms gets 64 / d at most. */
const ENDPOINT_CONCURRENCY = 64;

/** Turns of the events, with the reference between them; each takes a second or more. */
const MAX_TURNS = 6;
const MIN_TURN_EVENTS = 15_000;
/** Before each turn, as many deliveries as the reference posts before it is measured: connections end while it has its turn. */
const WARM_UP_DELIVERIES = 20_000;

interface Measured {
  readonly result: RunSums;
  readonly reference: Reference;
}

const tenantOf = ({ fanOut, delayMs }: Case): string => `throughput-${fanOut}-${delayMs}`;
const nameOf = ({ fanOut, delayMs }: Case): string =>
  `fan-out ${fanOut}, receiver answers after ${delayMs} ms`;

/** As many events as keep the slowest case busy for the time given; a fan-out of 5 makes five deliveries of each. */
export function eventsOf({ fanOut, delayMs }: Case, { count, seconds }: Stage['sizes']): number {
  const busy = delayMs === 0 ? Infinity : (ENDPOINT_CONCURRENCY / delayMs) * 1_000 * seconds;
  return Math.round(Math.min(count / Math.sqrt(fanOut), busy));
}

async function openCase(world: World, one: Case): Promise<readonly BenchEndpoint[]> {
  const tenantId = tenantOf(one);
  const wanted = Array.from({ length: one.fanOut }, (_, index) => ({
    path: `/${tenantId}/${index}`,
    tenantId,
  }));
  for (const { path } of wanted)
    world.receiver.behave(path, { kind: 'answer', status: 200, delayMs: one.delayMs });
  return registerEndpoints(world, wanted);
}

function figuresOf({ delayMs }: Case, result: RunSums, reference: Reference): readonly Figure[] {
  const share = (100 * reference.cpuMicrosPerPost) / workerCpu(result);
  const bar = delayMs === 0 ? { bar: atLeast(SHARE_PERCENT) } : {};
  return [
    { name: 'deliveries each second', value: result.totals.delivered / result.seconds, unit: '1/s' },
    { name: 'CPU of the worker for each delivery', value: workerCpu(result), unit: 'µs' },
    { name: 'CPU of the reference for each post', value: reference.cpuMicrosPerPost, unit: 'µs' },
    { name: "share of the reference's deliveries for each CPU second", value: share, unit: '%', ...bar },
  ];
}

/** A machine that others share changes its pace within seconds: the reference has its turn between shares of the events. */
async function inTurns(
  world: World,
  track: ReferenceTrack,
  { endpoints, count }: { endpoints: readonly BenchEndpoint[]; count: number },
): Promise<Measured> {
  const turns = Math.max(1, Math.min(MAX_TURNS, Math.floor(count / MIN_TURN_EVENTS)));
  const runs: RunSums[] = [];
  const references: Reference[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const { value, reference } = await track.around(async () => {
      await flood(world, endpoints, Math.ceil(Math.min(count, WARM_UP_DELIVERIES) / endpoints.length));
      return flood(world, endpoints, Math.ceil(count / turns));
    });
    runs.push(value);
    references.push(reference);
  }
  return { result: sumRuns(runs), reference: meanReference(references) };
}

/** The worker alone: events on the topic faster than it takes them. */
async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: CASES.map(tenantOf), ports: 5 });
  const opened = await Promise.all(CASES.map((one) => openCase(world, one)));
  const track = trackReference(world);
  await stage.run('warm-up', () => warmUpFully(world, opened.slice(0, 2), stage.sizes.count));
  for (const [index, one] of CASES.entries()) {
    const name = nameOf(one);
    await stage.run(name, async () => {
      const endpoints = opened[index] ?? [];
      const count = eventsOf(one, stage.sizes);
      // The slow receivers have no bar: what was measured for the others is near enough.
      const { result, reference } =
        one.delayMs === 0
          ? await inTurns(world, track, { endpoints, count })
          : { result: await flood(world, endpoints, count), reference: track.mean() };
      if (index === 0) stage.shared.eventsPerSecond = result.totals.delivered / result.seconds;
      stage.report(runReport(name, result, figuresOf(one, result, reference)));
    });
  }
}

export const throughput: Scenario = {
  title: 'worker alone, fan-out 1 and 5, receivers that answer after 0, 50 and 250 ms; count: events',
  usual: { count: 30_000, seconds: 4 },
  whole: { count: 200_000, seconds: 60 },
  measure,
};
