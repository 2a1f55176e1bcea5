import { percentilesOf } from '../measure.js';
import type { Percentiles } from '../measure.js';
import { atMost, figure, percentileFigures, showRuns } from '../report.js';
import type { Figure, Measurement } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { findThroughput, runLoad, toEndpoint } from '../world/run.js';
import type { RunResult, Schedule } from '../world/run.js';
import { registerFanOut } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';

/** The bars are for half of the throughput. */
const HALF = 50;
const SHARES = [25, HALF, 75];
const P50_ABOVE_MS = 5;
const P99_ABOVE_MS = 25;
const TENANT = 'latency';
/** Not in the figures: connections are opened. */
const LEAD_IN_SECONDS = 1;
const TURNS = 3;

const pooled = (runs: readonly RunResult[], since: 'acknowledgedAt' | 'dueAt'): Percentiles =>
  percentilesOf(
    runs.flatMap(({ account, load }) =>
      account.latencies(since, { due: [load.startedAt + 1_000_000 * LEAD_IN_SECONDS, Infinity] }),
    ),
  );

function figuresOf(
  share: number,
  runs: readonly RunResult[],
  direct: readonly RunResult[],
): readonly Figure[] {
  const [service, reference] = [pooled(runs, 'acknowledgedAt'), pooled(direct, 'acknowledgedAt')];
  const above = (name: 'p50' | 'p99', limit: number): Figure => {
    const value = (service[name] - reference[name]) / 1_000;
    return figure(`above the reference, ${name}`, value, 'ms', share === HALF ? atMost(limit) : undefined);
  };
  return [
    ...percentileFigures('acknowledgement to arrival', service),
    ...percentileFigures('reference, sent to arrival', reference),
    above('p50', P50_ABOVE_MS),
    above('p99', P99_ABOVE_MS),
    figure('due to arrival, p99', pooled(runs, 'dueAt').p99 / 1_000, 'ms'),
  ];
}

/** Measures service and reference at the same rate, in turns, so that other processes on the machine affect both alike. */
async function measureShare(
  world: World,
  endpoint: BenchEndpoint,
  load: Schedule,
  share: number,
): Promise<Measurement> {
  const [direct, service]: [RunResult[], RunResult[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    direct.push(await runLoad(world, [endpoint], load, { target: toEndpoint(world, endpoint) }));
    service.push(await runLoad(world, [endpoint], load));
  }
  return showRuns(service, figuresOf(share, service, direct));
}

/** Measures the time from Kafka's acknowledgement to the receiver, beside the same schedule posted directly to the receiver. */
async function measure(context: ScenarioContext): Promise<void> {
  const world = await context.openWorld({ tenants: [TENANT], ports: 1 });
  for (const endpoint of await registerFanOut(world, TENANT, 1)) {
    const limit = await findThroughput(world, [endpoint]);
    for (const share of SHARES) {
      const perSecond = (limit * share) / 100;
      const load = { perSecond, seconds: LEAD_IN_SECONDS + context.sizes.seconds / TURNS };
      await context.run(`${share} % of the throughput, ${perSecond.toFixed(0)} events/s`, () =>
        measureShare(world, endpoint, load, share),
      );
    }
  }
}

export const latency: Scenario = {
  title:
    'at 25, 50 and 75 % of the throughput found, beside the same schedule without the service; seconds: of each load, in three turns',
  usual: { count: 0, seconds: 12 },
  whole: { count: 0, seconds: 60 },
  measure,
};
