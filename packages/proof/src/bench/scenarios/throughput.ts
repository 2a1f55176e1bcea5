import type { Load } from '../load/generator.js';
import { CONNECTIONS } from '../load/send.js';
import { figure, atLeast, deliveriesPerSecond, showRuns, workerCpu } from '../report.js';
import type { Measurement } from '../report.js';
import type { Scenario, ScenarioContext, Sizes } from '../scenario.js';
import { runLoad, warmUpWorker } from '../world/run.js';
import type { RunResult } from '../world/run.js';
import { registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';

/**
 * Posts of one reference run. They take 0.5 to 2 s of CPU time, which getrusage counts in microseconds. As many are sent before the
 * measurement, so that the generator's code is compiled.
 */
const POSTS = 20_000;

/** Posts the same bytes to the same receiver by the same HTTP client, without the service. */
async function measureReference(world: World): Promise<Load> {
  const [origin = ''] = world.receiver.origins;
  const endpoint = { path: '/reference', tenantId: 'reference', origin, ref: '' };
  const { caFile } = world.stack.description().tls;
  const target = { kind: 'endpoint', url: origin + endpoint.path, caFile } as const;
  const { load } = await runLoad(world, [endpoint], { count: 2 * POSTS }, { target, warmUp: POSTS });
  return load;
}

/**
 * Runs `work` in turns with the reference, because a shared machine changes its speed within seconds. Returns the runs, and the reference's
 * mean CPU time for a post, in microseconds.
 */
export async function besideReference(world: World, turns: number, work: () => Promise<RunResult>) {
  const loads = [await measureReference(world)];
  const runs: RunResult[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    runs.push(await work());
    loads.push(await measureReference(world));
  }
  const cpuMicros = loads.reduce((sum, load) => sum + load.cpuMicros, 0);
  return { runs, referenceMicros: cpuMicros / (loads.length * POSTS) };
}

interface Case {
  readonly fanOut: number;
  readonly delayMs: number;
}

const FAN_OUTS = [1, 5];
const CASES: readonly Case[] = [0, 50].flatMap((delayMs) => FAN_OUTS.map((fanOut) => ({ fanOut, delayMs })));
/** Least share of the reference's deliveries for each CPU second, in percent, where receivers respond at once. */
const SHARE_PERCENT = 42;
/** Events of one turn between two reference runs. A turn takes a second or more. */
const TURN_EVENTS = 15_000;

const tenantOf = ({ fanOut, delayMs }: Case): string => `throughput-${fanOut}-${delayMs}`;

/**
 * Returns the number of events of a case: as many as the slow receiver accepts in `seconds`, at most `count`. With a fan-out of 5 there are
 * fewer, because each makes five deliveries.
 */
export function eventsOf({ fanOut, delayMs }: Case, { count, seconds }: Sizes): number {
  // An endpoint that responds after d ms gets 64 / d deliveries a millisecond at most.
  const busy = delayMs === 0 ? Infinity : (CONNECTIONS / delayMs) * 1_000 * seconds;
  return Math.round(Math.min(count / Math.sqrt(fanOut), busy));
}

async function measureCase(world: World, one: Case, sizes: Sizes): Promise<Measurement> {
  const endpoints = await registerFanOut(world, tenantOf(one), one.fanOut);
  for (const { path } of endpoints)
    world.receiver.replyAt(path, { kind: 'status', status: 200, delayMs: one.delayMs });
  const count = eventsOf(one, sizes);
  const turns = Math.ceil(count / TURN_EVENTS);
  const { runs, referenceMicros } = await besideReference(world, turns, async () => {
    // The worker's connections close during the reference's turn.
    await warmUpWorker(world, endpoints, count / turns);
    return runLoad(world, endpoints, { count: Math.ceil(count / turns) });
  });
  const cpu = workerCpu(runs);
  const share = (100 * referenceMicros) / cpu;
  const bar = one.delayMs === 0 ? atLeast(SHARE_PERCENT) : undefined;
  return showRuns(runs, [
    figure('deliveries each second', deliveriesPerSecond(runs), '1/s'),
    figure('CPU of the worker for each delivery', cpu, 'µs'),
    figure('CPU of the reference for each post', referenceMicros, 'µs'),
    figure("share of the reference's deliveries for each CPU second", share, '%', bar),
  ]);
}

/** Measures the worker alone. Events are produced to the topic faster than it reads them. */
async function measure(context: ScenarioContext): Promise<void> {
  const ports = Math.max(...FAN_OUTS);
  const world = await context.openWorld({ tenants: CASES.map(tenantOf), ports });
  for (const one of CASES)
    await context.run(`fan-out ${one.fanOut}, receiver responds after ${one.delayMs} ms`, () =>
      measureCase(world, one, context.sizes),
    );
}

export const throughput: Scenario = {
  title:
    'worker alone, fan-out 1 and 5, receivers that respond at once and after 50 ms; count: events, seconds: of slow receivers',
  usual: { count: 30_000, seconds: 4 },
  whole: { count: 120_000, seconds: 60 },
  measure,
};
