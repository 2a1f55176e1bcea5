import { atLeast } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import type { Reference } from '../reference/measure-reference.js';
import { flood, warmUpFully } from '../world/flood.js';
import type { RunResult } from '../world/run-plan.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { runReport, workerCpu } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';
import { trackReference } from './reference-track.js';

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

function figuresOf({ delayMs }: Case, result: RunResult, reference: Reference): readonly Figure[] {
  const share = (100 * reference.cpuMicrosPerPost) / workerCpu(result);
  const bar = delayMs === 0 ? { bar: atLeast(SHARE_PERCENT) } : {};
  return [
    { name: 'deliveries each second', value: result.totals.delivered / result.seconds, unit: '1/s' },
    { name: 'CPU of the worker for each delivery', value: workerCpu(result), unit: 'µs' },
    { name: 'CPU of the reference for each post', value: reference.cpuMicrosPerPost, unit: 'µs' },
    { name: "share of the reference's deliveries for each CPU second", value: share, unit: '%', ...bar },
  ];
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
      const work = (): Promise<RunResult> => flood(world, opened[index] ?? [], eventsOf(one, stage.sizes));
      // The slow receivers have no bar: what was measured for the others is near enough.
      const { value: result, reference } =
        one.delayMs === 0 ? await track.around(work) : { value: await work(), reference: track.mean() };
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
