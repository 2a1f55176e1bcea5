import type { Client } from '@webhooks/client';
import { createConnection, mongo } from 'mongoose';
import { makeEvents } from '../load/generator.js';
import { monotonicMicros, percentilesOf, VoidRun, beginUsage, cpuOf } from '../measure.js';
import { fillLog, makeLog, typeOfEndpoint } from '../query/attempt-log.js';
import type { LogPlan } from '../query/attempt-log.js';
import { queriesOfEvents, queriesOfLog } from '../query/queries.js';
import type { DocumentedQuery } from '../query/queries.js';
import { atLeast, atMost, figure, othersFigure, showRuns } from '../report.js';
import type { Bar, Figure, Shown } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { followProjections, clientOf, registerEndpoints, registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';
import { nextSeed, runLoad } from '../world/run.js';

/** One with a log, and one whose events are delivered. */
const LOG = 'query-log';
const PAID = 'query-paid';
const ENDPOINTS = 20;
const EVENTS = 10_000;
/** The span of an endpoint's health, a day, less an hour in which the scenario ends. */
const SPAN_MS = 82_800_000;

/** An event and its delivery. */
const DOCUMENTS = 2;
const BARE_TIMES = 2;
const ATTEMPTS_PER_SECOND = 2_000;
const EMBEDDED_P95_MS = 250;
const SERVER_P95_MS = 20;
const RUNS_EACH = 100;
/** Not counted: connections are opened and code is compiled. */
const WARM_UP = 10;

/** Whether the database is one of ours: it is a process of this machine then. */
const isEmbedded = (world: World): boolean => world.pids()['mongodb'] !== undefined;

const DATABASE = 'webhook_query';
/** Documents of one statement, as query-api writes them. */
const STATEMENT = 500;

/**
 * Copies the events of a tenant and their deliveries into new collections with the same indexes, by bare inserts. Gives their
 * number, their bytes, and what the database took for that: microseconds of CPU, 0 when it is none of ours.
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

/** Events that are delivered at once, beside bare inserts of what the log then holds. */
async function measureWriting(world: World, seed: number): Promise<Shown> {
  const endpoints = await registerFanOut(world, PAID, 1);
  const run = await runLoad(
    world,
    endpoints,
    { count: EVENTS },
    { seed, whenDelivered: () => followProjections(world) },
  );
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

/** A log that ends now, of endpoints that are registered. */
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

/** How many deliveries the log has, counted endpoint by endpoint as the dry run of a redelivery does. */
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

/** The attempts of a log, from the first one appended until none waits to be projected. */
async function measureProjection(world: World, plan: LogPlan): Promise<Shown> {
  const log = makeLog(plan);
  const attempts = log.filter(({ kind }) => kind === 'attempt').length;
  const endUsage = beginUsage(world.pids());
  const startedAt = monotonicMicros();
  await fillLog(world.stack.description().kafkaBrokers, log);
  const projectedAt = await followProjections(world, 'attempts');
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

/** Times until the response was read, in microseconds. Throws `VoidRun` for a response that is wrong. */
async function runInTurn({ name, run }: DocumentedQuery): Promise<readonly number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < WARM_UP + RUNS_EACH; turn += 1) {
    const startedAt = monotonicMicros();
    if (!(await run(turn))) throw new VoidRun(`${name}: the response to query ${turn} is wrong`);
    times.push(monotonicMicros() - startedAt);
  }
  return times.slice(WARM_UP);
}

/** None for a list of the embedded database. */
function barOf(world: World, { isList }: DocumentedQuery): Bar | undefined {
  if (!isEmbedded(world)) return atMost(SERVER_P95_MS);
  return isList ? undefined : atMost(EMBEDDED_P95_MS);
}

/** Each query, one query after the other; a wrong response voids them all. */
async function measureQueries(world: World, queries: readonly DocumentedQuery[]): Promise<Shown> {
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
  await followProjections(world);
  const events = makeEvents({ count: EVENTS, seed, tenants: [PAID] });
  const queries = [
    ...queriesOfLog(clientOf(world, LOG), plan),
    ...queriesOfEvents(clientOf(world, PAID), events),
  ];
  const database = isEmbedded(world) ? 'the embedded database' : 'the given database';
  await context.run(`queries of ${database}, one at a time`, () => measureQueries(world, queries));
}

export const query: Scenario = {
  title:
    'attempts a second that query-api projects, then each documented query; the embedded database, or the one of MONGODB_URI; count: deliveries',
  usual: { count: 15_000, seconds: 0 },
  whole: { count: 200_000, seconds: 0 },
  measure,
};
