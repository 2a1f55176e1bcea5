import { CONNECTIONS } from '../load/target.js';
import { atLeast, figure } from '../report.js';
import type { Shown } from '../report.js';
import type { Scenario, Sizes, Stage } from '../scenario.js';
import { runLoad, warmUpWorker } from '../world/run.js';
import { registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';
import { besideReference } from './reference.js';
import { deliveriesPerSecond, showRuns, workerCpu } from './run-report.js';

interface Case {
  readonly fanOut: number;
  readonly delayMs: number;
}

const FAN_OUTS = [1, 5];
const CASES: readonly Case[] = [0, 50].flatMap((delayMs) => FAN_OUTS.map((fanOut) => ({ fanOut, delayMs })));
/** Share of the reference's deliveries for each CPU second, in percent, where receivers answer at once. */
const SHARE_PERCENT = 42;
/** Of one turn between two of the reference: it takes a second or more. */
const TURN_EVENTS = 15_000;

const tenantOf = ({ fanOut, delayMs }: Case): string => `throughput-${fanOut}-${delayMs}`;

/** As many events as keep the slowest case busy for the time given; a fan-out of 5 makes five deliveries of each. */
export function eventsOf({ fanOut, delayMs }: Case, { count, seconds }: Sizes): number {
  // An endpoint that takes d ms gets 64 / d at most.
  const busy = delayMs === 0 ? Infinity : (CONNECTIONS / delayMs) * 1_000 * seconds;
  return Math.round(Math.min(count / Math.sqrt(fanOut), busy));
}

async function measureCase(world: World, one: Case, sizes: Sizes): Promise<Shown> {
  const endpoints = await registerFanOut(world, tenantOf(one), one.fanOut);
  for (const { path } of endpoints)
    world.receiver.answerAt(path, { kind: 'status', status: 200, delayMs: one.delayMs });
  const count = eventsOf(one, sizes);
  const turns = Math.ceil(count / TURN_EVENTS);
  const { runs, referenceMicros } = await besideReference(world, turns, async () => {
    // Connections end while the reference has its turn.
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

/** The worker alone: events on the topic faster than it takes them. */
async function measure(stage: Stage): Promise<void> {
  const ports = Math.max(...FAN_OUTS);
  const world = await stage.openWorld({ tenants: CASES.map(tenantOf), ports });
  for (const one of CASES)
    await stage.run(`fan-out ${one.fanOut}, receiver answers after ${one.delayMs} ms`, () =>
      measureCase(world, one, stage.sizes),
    );
}

export const throughput: Scenario = {
  title:
    'worker alone, fan-out 1 and 5, receivers that answer at once and after 50 ms; count: events, seconds: of slow receivers',
  usual: { count: 30_000, seconds: 4 },
  whole: { count: 120_000, seconds: 60 },
  measure,
};
