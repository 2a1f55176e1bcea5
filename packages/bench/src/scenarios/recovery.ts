import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMicros } from '../measure/clock.js';
import { percentilesOf } from '../measure/percentiles.js';
import type { RunLedger } from '../measure/run-ledger.js';
import { figure } from '../report.js';
import type { Figure } from '../report.js';
import type { Scenario, Stage } from '../scenario.js';
import { QUIET_MS, openLoop, warmUpWorker } from '../world/run.js';
import { TEN, isPathOf, registerTen, tenTenants } from '../world/world.js';
import type { BenchEndpoint } from '../world/world.js';
import { showRuns } from './run-report.js';

const RUN = 'recovery';
const BEFORE_SECONDS = 5;
const AFTER_SECONDS = 20;

/** `from`, `until`: when the endpoint was dead, monotonic microseconds. */
function figuresOf(
  ledger: RunLedger,
  dead: BenchEndpoint,
  [from, until]: readonly [number, number],
): readonly Figure[] {
  const isDead = isPathOf([dead]);
  const isOther = (path: string): boolean => !isDead(path);
  const missed = ledger.arrivals({ isPath: isDead, due: [from, until] });
  const lastAt = missed.at(-1) ?? NaN;
  const firstAt = ledger.arrivals({ isPath: isDead }).find((at) => at >= until) ?? NaN;
  const seconds = (name: string, micros: number): Figure => figure(name, micros / 1_000_000, 's');
  const othersP99 = (when: string, due: readonly [number, number]): Figure => {
    const { p99 } = percentilesOf(ledger.latencies('acknowledgedAt', { isPath: isOther, due }));
    return figure(`others, p99 ${when}`, p99 / 1_000, 'ms');
  };
  return [
    seconds('from coming back to its first delivery', firstAt - until),
    seconds('from coming back until all of them are delivered', lastAt - until),
    othersP99('before', [0, from]),
    othersP99('while it is dead', [from, until]),
    othersP99('while it recovers', [until, lastAt]),
  ];
}

/** One of ten endpoints refuses connections for a while and comes back, with events coming all the time. */
async function measure(stage: Stage): Promise<void> {
  const { count, seconds } = stage.sizes;
  const world = await stage.openWorld({ tenants: tenTenants(RUN), ports: TEN });
  const endpoints = await registerTen(world, RUN);
  const dead = endpoints.at(-1);
  if (!dead) return;
  const perSecond = (TEN * count) / seconds;
  const run = `one of ten endpoints dead for ${seconds} s, ${perSecond.toFixed(0)} events/s`;
  await stage.run(run, async () => {
    await warmUpWorker(world, endpoints, TEN * count);
    let [shutAt, backAt] = [NaN, NaN];
    const load = { perSecond, seconds: BEFORE_SECONDS + seconds + AFTER_SECONDS };
    const result = await openLoop(world, endpoints, load, {
      meanwhile: async () => {
        await delay(BEFORE_SECONDS * 1_000);
        shutAt = monotonicMicros();
        world.receiver.shut(dead.origin);
        await delay(seconds * 1_000);
        world.receiver.reopen(dead.origin);
        backAt = monotonicMicros();
      },
      // The breaker waits up to 10 min between two probes, and a deferred record may wait longer than that.
      quietMs: Math.max(QUIET_MS, 2_000 * seconds),
    });
    return showRuns([result], figuresOf(result.ledger, dead, [shutAt, backAt]));
  });
}

export const recovery: Scenario = {
  title: 'one of ten endpoints is dead and comes back; seconds: how long it is dead, count: events it misses',
  usual: { count: 4_000, seconds: 20 },
  whole: { count: 100_000, seconds: 600 },
  measure,
};
