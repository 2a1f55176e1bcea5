import { atMost } from '../report/figure.js';
import type { Figure } from '../report/figure.js';
import { flood, openLoop } from '../world/flood.js';
import { followProjections } from '../world/follow-projections.js';
import { runJob } from '../world/run-job.js';
import type { JobPlan, JobResult } from '../world/run-job.js';
import type { RunPlan, RunResult } from '../world/run-plan.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';
import { latenessFigures, percentileFigures, runReport } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';
import { TEN, pooled, tenTenants } from './ten-endpoints.js';

const TENANT = 'redelivery';
/** Deliveries to the same endpoint before and after the time that the job names. */
const BESIDE = 300;
/** `REDELIVERIES_PER_SECOND` when an operator says nothing: what it is for is that live traffic does not suffer. */
const JOB_PER_SECOND = 200;
/** Slower than twice the time that its rate gives it, and 30 s: it is stuck. */
const SLACK_MS = 30_000;
/**
 * Live events, over ten endpoints. Each is delivered and projected: 200 a second took 1.8 of 2 cores without a job, and what
 * a full machine shows is only that it is full.
 */
const LIVE_PER_SECOND = 100;
const P99_TIMES = 2;

interface Parts {
  readonly stage: Stage;
  readonly world: World;
  readonly live: readonly BenchEndpoint[];
}

/** What the job is to send again: delivered between two moments, with others before, after and beside it. */
async function makeDelivered(
  world: World,
  [endpoint, other]: readonly [BenchEndpoint, BenchEndpoint],
  count: number,
): Promise<JobPlan> {
  const both = [endpoint, other];
  await flood(world, both, BESIDE);
  const from = new Date();
  const { ledger } = await flood(world, both, count);
  const to = new Date();
  await flood(world, both, BESIDE);
  await followProjections(world);
  return { endpoint, other, from, to, named: ledger.acceptances };
}

interface LiveRun {
  readonly name: string;
  readonly seconds: number;
  readonly more?: Partial<RunPlan>;
  /** Healthy p99 without a job, in microseconds. */
  readonly without?: number | undefined;
}

/** The live load; returns its p99 from due to first byte. */
async function measureLive(
  { stage, world, live }: Parts,
  { name, seconds, more = {}, without }: LiveRun,
): Promise<number> {
  const result: RunResult = await openLoop(world, live, { perSecond: LIVE_PER_SECOND, seconds }, more);
  const latencies = pooled(result, 'due', () => true);
  const times: readonly Figure[] =
    without === undefined
      ? []
      : [
          {
            name: 'p99, times that without',
            value: latencies.p99 / without,
            unit: '×',
            bar: atMost(P99_TIMES),
          },
        ];
  const figures = [...percentileFigures('live, due to first byte', latencies), ...times];
  stage.report(
    runReport(name, result, [
      { name: 'live events each second', value: LIVE_PER_SECOND, unit: '1/s' },
      ...figures,
      ...latenessFigures(result),
    ]),
  );
  return latencies.p99;
}

function reportJob(stage: Stage, { job, totals, seconds, countedMs }: JobResult): void {
  const { delivered, duplicates } = totals;
  stage.report({
    run: `a job over ${delivered.toLocaleString('en-US')} deliveries`,
    ledger: `matched=${job.matched} sent=${job.sent} delivered=${delivered} duplicates=${duplicates} others=0 lost=0`,
    figures: [
      { name: 'deliveries each second', value: delivered / seconds, unit: '1/s' },
      { name: 'the rate that it was given', value: JOB_PER_SECOND, unit: '1/s' },
      { name: 'the dry run before it', value: countedMs, unit: 'ms' },
    ],
  });
}

/** The same load without a job and with one; it is made to last for as long as the job takes at its rate. */
async function measureJob(parts: Parts, plan: JobPlan): Promise<void> {
  const { stage, world } = parts;
  const without = await stage.run('live load, no job', () =>
    measureLive(parts, { name: 'live load, no job', seconds: stage.sizes.seconds }),
  );
  await followProjections(world);
  const seconds = Math.max(1, plan.named.length / JOB_PER_SECOND);
  const name = 'live load beside a job';
  let result: JobResult | undefined;
  const meanwhile = async (): Promise<void> => {
    result = await runJob(world, plan, 2_000 * seconds + SLACK_MS);
  };
  const p99 = await stage.run(name, () =>
    measureLive(parts, { name, seconds, more: { meanwhile }, without }),
  );
  if (p99 !== undefined && result) reportJob(stage, result);
}

async function measure(stage: Stage): Promise<void> {
  const tenants = tenTenants('redelivery-live');
  const world = await stage.openWorld({
    tenants: [TENANT, ...tenants],
    ports: TEN + 2,
    withQueryApi: true,
    overrides: { 'query-api': { REDELIVERIES_PER_SECOND: String(JOB_PER_SECOND) } },
  });
  stage.print(`  database: ${world.database.title}`);
  const [endpoint, other, ...live] = await registerEndpoints(world, [
    { tenantId: TENANT, path: '/again' },
    { tenantId: TENANT, path: '/not-again' },
    ...tenants.map((tenantId) => ({ tenantId, path: `/${tenantId}` })),
  ]);
  if (!endpoint || !other) return;
  const plan = await stage.run('what is sent again', () =>
    makeDelivered(world, [endpoint, other], stage.sizes.count),
  );
  if (plan) await measureJob({ stage, world, live }, plan);
}

export const redelivery: Scenario = {
  title:
    'one job sends deliveries again while a live load goes to ten other endpoints; count: deliveries of the job, seconds: of the load without it',
  usual: { count: 2_000, seconds: 10 },
  whole: { count: 50_000, seconds: 60 },
  measure,
};
