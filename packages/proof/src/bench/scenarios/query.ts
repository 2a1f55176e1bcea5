import type { Client } from '@webhooks/client';
import { createConnection, mongo } from 'mongoose';
import { makeEvents } from '../load/generator.js';
import { monotonicMicros, percentilesOf, VoidRun, beginUsage, cpuOf } from '../measure.js';
import { fillLog, makeLog, typeOfEndpoint } from '../query/attempt-log.js';
import type { LogPlan } from '../query/attempt-log.js';
import { queriesOfEvents, queriesOfLog } from '../query/queries.js';
import type { DocumentedQuery } from '../query/queries.js';
import { atLeast, atMost, figure, othersFigure, showRuns } from '../report.js';
import type { Bar, Figure, Measurement } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { waitForProjections, clientOf, registerEndpoints, registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';
import { nextSeed, runLoad } from '../world/run.js';

/** Two tenants: one with a generated log, and one whose events are delivered. */
const LOG = 'query-log';
const PAID = 'query-paid';
const ENDPOINTS = 20;
const EVENTS = 10_000;
/** Time range of the log: a day, as in an endpoint's health, less an hour for the scenario itself. */
const SPAN_MS = 82_800_000;

/** Documents for each event: the event and its delivery. */
const DOCUMENTS = 2;
const BARE_TIMES = 2;
const ATTEMPTS_PER_SECOND = 2_000;
const EMBEDDED_P95_MS = 250;
const SERVER_P95_MS = 20;
const RUNS_EACH = 100;
/** Queries that are not measured, while connections are opened and code is compiled. */
const WARM_UP = 10;

/** Whether the stack started the database, which is then one of its processes. */
const isEmbedded = (world: World): boolean => world.pids()['mongodb'] !== undefined;

const DATABASE = 'webhook_query';
/** Documents in one insert, as in query-api. */
const STATEMENT = 500;

/**
 * Inserts copies of a tenant's events and deliveries into new collections with the same indexes. Returns their number, their bytes, and the
 * database's CPU time in microseconds: 0 for an external database.
 */
async function insertBare(world: World, tenantId: string) {
  const { mongodbUri } = world.stack.description();
  const writeConcern = { w: 'majority', journal: true } as const;
  const connection = await createConnection(mongodbUri, { dbName: DATABASE, writeConcern }).asPromise();
  const database = connection.getClient().db(DATABASE);
  let [documents, bytes, cpuMicros] = [0, 0, 0];
  try {
    for (const name of ['events', 'deliveries']) {
      const source = database.collection(name);
      const rows = await source.find({ tenantId }).toArray();
      const bare = database.collection(`bench_${name}`);
      await bare.createIndexes((await source.indexes()).map(({ v: _version, ...index }) => index));
      const endUsage = beginUsage(world.pids());
      for (let from = 0; from < rows.length; from += STATEMENT)
        await bare.insertMany(rows.slice(from, from + STATEMENT), { ordered: false });
      cpuMicros += cpuOf(endUsage(world.pids()).processes, (process) => process === 'mongodb');
      await bare.drop();
      documents += rows.length;
      bytes += rows.reduce((sum, row) => sum + mongo.BSON.calculateObjectSize(row), 0);
    }
    return { documents, bytes, cpuMicros };
  } finally {
    await connection.close();
  }
}

/** Measures the writing of events and their deliveries, beside plain inserts of the same documents. */
async function measureWriting(world: World, seed: number): Promise<Measurement> {
  const endpoints = await registerFanOut(world, PAID, 1);
  const whenDelivered = () => waitForProjections(world);
  const run = await runLoad(world, endpoints, { count: EVENTS }, { seed, whenDelivered });
  const { documents, bytes, cpuMicros: bare } = await insertBare(world, PAID);
  const cpu = (name: string) => cpuOf(run.usage.processes, (one) => one === name);
  const cpuFigures = [
    figure('CPU of the database for each', cpu('mongodb') / EVENTS, 'µs'),
    figure('CPU of the database for bare inserts of the same', bare / EVENTS, 'µs'),
    figure("times the bare inserts' CPU", cpu('mongodb') / bare, '×', atMost(BARE_TIMES)),
  ];
  return showRuns(
    [run],
    [
      figure('documents for each event with its delivery', documents / EVENTS, '', atMost(DOCUMENTS)),
      figure('bytes for each event with its delivery', bytes / EVENTS, 'B'),
      figure('CPU of query-api for each', cpu('query-api') / EVENTS, 'µs'),
      ...(isEmbedded(world) ? cpuFigures : []),
    ],
  );
}

/** Registers endpoints, and plans a log of them that ends now. */
async function planLog(world: World, deliveries: number): Promise<LogPlan> {
  const wanted = Array.from({ length: ENDPOINTS }, (_, index) => ({
    tenantId: LOG,
    path: `/${LOG}/${index}`,
    eventType: typeOfEndpoint(index),
  }));
  const endpoints = await registerEndpoints(world, wanted);
  const to = Date.now();
  return { tenantId: LOG, refs: endpoints.map(({ ref }) => ref), deliveries, from: to - SPAN_MS, to };
}

/** Returns how many deliveries the log has, counted endpoint by endpoint as the dry run of a redelivery does. */
async function countLogged(client: Client, { refs, from }: LogPlan): Promise<number> {
  let sum = 0;
  for (const ref of refs)
    for (const status of ['delivered', 'dead'] as const) {
      const count = await client.countRedelivery({ ref, status, from: new Date(from).toISOString() });
      if (count.matchedIsLowerBound) throw new VoidRun(`the deliveries of ${ref} were not counted in time`);
      sum += count.matched;
    }
  return sum;
}

/** Measures the projection of a log, from its first append until all attempts are projected. */
async function measureProjection(world: World, plan: LogPlan): Promise<Measurement> {
  const log = makeLog(plan);
  const attempts = log.filter(({ kind }) => kind === 'attempt').length;
  const endUsage = beginUsage(world.pids());
  const startedAt = monotonicMicros();
  await fillLog(world.stack.description().kafkaBrokers, log);
  const projectedAt = await waitForProjections(world, 'attempts');
  const { processes, othersPercent } = endUsage(world.pids());
  const found = await countLogged(clientOf(world, LOG), plan);
  if (found !== plan.deliveries)
    throw new VoidRun(`${found} of ${plan.deliveries} deliveries are in the log`);
  const rate = (attempts * 1_000_000) / (projectedAt - startedAt);
  return {
    account: `attempts=${attempts} deliveries=${found} lost=0`,
    figures: [
      figure('attempts each second in the delivery log', rate, '1/s', atLeast(ATTEMPTS_PER_SECOND)),
      figure('CPU of the whole system for each attempt', cpuOf(processes) / attempts, 'µs'),
      othersFigure(othersPercent),
    ],
    usage: { count: attempts, each: 'attempt', processes },
  };
}

/** Runs a query repeatedly. Returns the time until each response was read, in microseconds. Throws `VoidRun` for a wrong response. */
async function runInTurn({ name, run }: DocumentedQuery): Promise<readonly number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < WARM_UP + RUNS_EACH; turn += 1) {
    const startedAt = monotonicMicros();
    if (!(await run(turn))) throw new VoidRun(`${name}: the response to query ${turn} is wrong`);
    times.push(monotonicMicros() - startedAt);
  }
  return times.slice(WARM_UP);
}

/** Returns the limit for the p95 of a query; none for a list of the embedded database. */
function barOf(world: World, { isList }: DocumentedQuery): Bar | undefined {
  if (!isEmbedded(world)) return atMost(SERVER_P95_MS);
  return isList ? undefined : atMost(EMBEDDED_P95_MS);
}

/** Measures the queries, one at a time. A wrong response voids all of them. */
async function measureQueries(world: World, queries: readonly DocumentedQuery[]): Promise<Measurement> {
  const figures: Figure[] = [];
  const endUsage = beginUsage(world.pids());
  for (const query of queries) {
    const { p50, p95 } = percentilesOf(await runInTurn(query));
    figures.push(figure(`${query.name}, p50`, p50 / 1_000, 'ms'));
    figures.push(figure(`${query.name}, p95`, p95 / 1_000, 'ms', barOf(world, query)));
  }
  const sent = queries.length * (WARM_UP + RUNS_EACH);
  figures.push(othersFigure(endUsage(world.pids()).othersPercent));
  return { account: `sent=${sent} right=${sent} wrong=0`, figures };
}

async function measure(context: ScenarioContext): Promise<void> {
  const world = await context.openWorld({ tenants: [LOG, PAID], ports: 1, withQueryApi: true });
  const seed = nextSeed();
  await context.run('events with one delivery are written', () => measureWriting(world, seed));
  const plan = await planLog(world, context.sizes.count);
  const count = plan.deliveries.toLocaleString('en-US');
  await context.run(`the attempts of ${count} deliveries are projected`, () =>
    measureProjection(world, plan),
  );
  await waitForProjections(world);
  const events = makeEvents({ count: EVENTS, seed, tenants: [PAID] });
  const queries = [
    ...queriesOfLog(clientOf(world, LOG), plan),
    ...queriesOfEvents(clientOf(world, PAID), events),
  ];
  const database = isEmbedded(world) ? 'the embedded database' : 'the database of MONGODB_URI';
  await context.run(`queries of ${database}, one at a time`, () => measureQueries(world, queries));
}

export const query: Scenario = {
  title:
    'attempts a second that query-api projects, then each documented query; the embedded database, or the one of MONGODB_URI; count: deliveries',
  usual: { count: 15_000, seconds: 0 },
  whole: { count: 200_000, seconds: 0 },
  measure,
};
