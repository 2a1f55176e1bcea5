import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMicros } from '../measure/clock.js';
import type { DueBetween, RunLedger } from '../measure/run-ledger.js';
import type { Figure } from '../report/figure.js';
import { openLoop, warmUp } from '../world/flood.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { latenessFigures, runReport } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';
import { TEN, pooled, registerTen, tenTenants } from './ten-endpoints.js';

const BEFORE_SECONDS = 5;
const AFTER_SECONDS = 20;
const RUN = 'recovery';
/** The breaker waits up to 10 min between two probes, and a parked record may wait longer than that. */
const QUIET_MS = 120_000;

/** Moments of the run, monotonic microseconds. */
interface Moments {
  shutAt: number;
  backAt: number;
}

/** p99 of the other nine, by when their events were due, in milliseconds. */
const othersP99 = (ledger: RunLedger, deadPath: string, between: DueBetween): number =>
  pooled({ ledger }, 'acknowledged', (path) => path !== deadPath, between).p99 / 1_000;

function drainOf(ledger: RunLedger, deadPath: string, { shutAt, backAt }: Moments) {
  let [parked, firstAt, lastAt] = [0, Infinity, 0];
  for (const { event, firstByteAt = 0 } of ledger.pairs((path) => path === deadPath)) {
    if (firstByteAt >= backAt) firstAt = Math.min(firstAt, firstByteAt);
    if (event.dueAt < shutAt || event.dueAt >= backAt) continue;
    parked += 1;
    lastAt = Math.max(lastAt, firstByteAt);
  }
  return { parked, firstAt, lastAt };
}

function figuresOf(ledger: RunLedger, deadPath: string, moments: Moments): readonly Figure[] {
  const { shutAt, backAt } = moments;
  const { parked, firstAt, lastAt } = drainOf(ledger, deadPath, moments);
  const seconds = (micros: number): number => micros / 1_000_000;
  return [
    { name: 'endpoint dead for', value: seconds(backAt - shutAt), unit: 's' },
    { name: 'events parked meanwhile', value: parked, unit: '' },
    { name: 'from coming back to its first delivery', value: seconds(firstAt - backAt), unit: 's' },
    { name: 'from coming back until all parked are delivered', value: seconds(lastAt - backAt), unit: 's' },
    { name: 'others, p99 before', value: othersP99(ledger, deadPath, [0, shutAt]), unit: 'ms' },
    {
      name: 'others, p99 while it is dead',
      value: othersP99(ledger, deadPath, [shutAt, backAt]),
      unit: 'ms',
    },
    {
      name: 'others, p99 while it recovers',
      value: othersP99(ledger, deadPath, [backAt, lastAt]),
      unit: 'ms',
    },
  ];
}

async function dieAndComeBack(
  world: World,
  dead: BenchEndpoint,
  seconds: number,
  moments: Moments,
): Promise<void> {
  await delay(BEFORE_SECONDS * 1_000);
  moments.shutAt = monotonicMicros();
  await world.receiver.shut(dead.origin);
  await delay(seconds * 1_000);
  await world.receiver.reopen(dead.origin);
  moments.backAt = monotonicMicros();
}

/** One of ten endpoints refuses connections for a while and comes back, with events coming all the time. */
async function measure(stage: Stage): Promise<void> {
  const { count, seconds } = stage.sizes;
  const world = await stage.openWorld({ tenants: tenTenants(RUN), ports: TEN });
  const endpoints = await registerTen(world, RUN);
  const dead = endpoints[TEN - 1];
  if (!dead) throw new Error('there is no endpoint to be dead');
  const perSecond = (TEN * count) / seconds;
  const name = `one of ten endpoints dead for ${seconds} s, ${perSecond.toFixed(0)} events/s`;
  await stage.run(name, async () => {
    await warmUp(world, endpoints);
    const moments: Moments = { shutAt: 0, backAt: 0 };
    const load = { perSecond, seconds: BEFORE_SECONDS + seconds + AFTER_SECONDS };
    const result = await openLoop(world, endpoints, load, {
      meanwhile: () => dieAndComeBack(world, dead, seconds, moments),
      quietMs: Math.max(QUIET_MS, 2_000 * seconds),
    });
    const figures = [...figuresOf(result.ledger, dead.path, moments), ...latenessFigures(result)];
    stage.report(runReport(name, result, figures));
  });
}

export const recovery: Scenario = {
  title: 'one of ten endpoints is dead and comes back; seconds: how long it is dead, count: events it misses',
  usual: { count: 4_000, seconds: 20 },
  whole: { count: 100_000, seconds: 600 },
  measure,
};
