import { poolAll } from '../measure/histogram.js';
import type { Percentiles } from '../measure/histogram.js';
import type { Since } from '../measure/run-ledger.js';
import { sumRuns } from '../measure/sum-runs.js';
import { atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { endpointsDoor } from '../world/doors.js';
import { openLoop } from '../world/flood.js';
import type { RunResult } from '../world/run-plan.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { findThroughput } from './find-throughput.js';
import { latenessFigures, percentileFigures, runReport } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';

const SHARES = [25, 50, 75];
/** The bars are for half of the throughput. */
const HALF = 50;
const P50_ABOVE_MS = 5;
const P99_ABOVE_MS = 25;
const CONNECTIONS = 64;
const TENANT = 'latency';
/** Connections are opened; not in the figures. */
const LEAD_IN_SECONDS = 1;
/** Service and reference have their turns of each load: what others do to the machine should meet both. */
const TURNS = 3;

interface Runs {
  readonly service: readonly RunResult[];
  readonly direct: readonly RunResult[];
}

const pooled = (runs: readonly RunResult[], since: Since): Percentiles =>
  poolAll(
    runs.flatMap(({ ledger, load }) => {
      const from = load.startedAt + 1_000_000 * LEAD_IN_SECONDS;
      return [...ledger.latencies(since, undefined, [from, Infinity]).values()];
    }),
  ).percentiles();

function figuresOf(share: number, perSecond: number, runs: Runs): readonly Figure[] {
  const [service, direct] = [pooled(runs.service, 'acknowledged'), pooled(runs.direct, 'acknowledged')];
  const above = (name: 'p50' | 'p99', limit: number): Figure => ({
    name: `above the reference, ${name}`,
    value: (service[name] - direct[name]) / 1_000,
    unit: 'ms',
    ...(share === HALF ? { bar: atMost(limit) } : {}),
  });
  const due = pooled(runs.service, 'due');
  return [
    { name: 'events each second', value: perSecond, unit: '1/s' },
    ...percentileFigures('acknowledgement to first byte', service),
    ...percentileFigures('reference, sent to first byte', direct),
    above('p50', P50_ABOVE_MS),
    above('p99', P99_ABOVE_MS),
    { name: 'due to first byte, p99', value: due.p99 / 1_000, unit: 'ms' },
    ...latenessFigures(...runs.service),
  ];
}

async function measureShare(
  stage: Stage,
  world: World,
  { endpoints, share, perSecond }: { endpoints: readonly BenchEndpoint[]; share: number; perSecond: number },
): Promise<void> {
  const run = `${share} % of the throughput`;
  await stage.run(run, async () => {
    const load = { perSecond, seconds: LEAD_IN_SECONDS + stage.sizes.seconds / TURNS };
    const door = endpointsDoor(world, endpoints, CONNECTIONS);
    const direct: RunResult[] = [];
    const service: RunResult[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      direct.push(await openLoop(world, endpoints, load, { door }));
      service.push(await openLoop(world, endpoints, load));
    }
    stage.report(runReport(run, sumRuns(service), figuresOf(share, perSecond, { service, direct })));
  });
}

/** From Kafka's acknowledgement to the receiver's first byte, beside the same schedule posted straight to the receiver. */
async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1 });
  const endpoints = await registerEndpoints(world, [{ path: '/latency/0', tenantId: TENANT }]);
  const limit = await stage.run('throughput', () => findThroughput(stage, world, endpoints));
  if (limit === undefined) return;
  for (const share of SHARES)
    await measureShare(stage, world, { endpoints, share, perSecond: (limit * share) / 100 });
}

export const latency: Scenario = {
  title:
    'at 25, 50 and 75 % of the throughput found, beside the same schedule without the service; seconds: of each load, in three turns',
  usual: { count: 0, seconds: 12 },
  whole: { count: 0, seconds: 60 },
  measure,
};
