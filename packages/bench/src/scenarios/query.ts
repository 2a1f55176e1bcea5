import type { Client } from '@webhooks/client';
import { EVENT_TYPES } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import { clientFor } from '@webhooks/ledger';
import { askInTurn } from '../load/ask-in-turn.js';
import { queriesOfEvents, queriesOfHealth, queriesOfLog } from '../load/log-queries.js';
import type { LogQuery } from '../load/log-queries.js';
import { makeEvents } from '../load/make-events.js';
import { deliveriesFor, totalsOf } from '../load/make-log.js';
import type { LogPlan } from '../load/make-log.js';
import { monotonicMicros } from '../measure/clock.js';
import type { Histogram } from '../measure/histogram.js';
import { beginSystemUsage } from '../measure/system-usage.js';
import { cpuOf } from '../measure/usage-span.js';
import { VoidRun } from '../measure/void-run.js';
import { atLeast, atMost } from '../report/figure.js';
import type { Bar, Figure } from '../report/figure.js';
import { countLogged } from '../world/count-logged.js';
import { fillLog } from '../world/fill-log.js';
import { flood, nextSeed } from '../world/flood.js';
import { followProjections } from '../world/follow-projections.js';
import { registerEndpoints } from '../world/world.js';
import type { World } from '../world/world.js';
import { othersFigure } from './run-figures.js';
import type { Scenario, Stage } from './scenario.js';

/** One with a log, one with a thin log of a whole day, and one whose events are delivered. */
const LOG = 'query-log';
const DAY = 'query-day';
const PAID = 'query-paid';
const ENDPOINTS = 20;
const EVENTS = 1_000;
/** What the health of an endpoint tells of, less an hour in which the scenario surely ends. */
const DAY_MS = 82_800_000;
/** In each of the 138 stretches of 10 minutes that the health counts by, each endpoint of the thin log has some. */
const DAY_DELIVERIES = 600;
/** The other log is as dense as that of a million attempts in such a day, however short it is. */
const DAY_ATTEMPTS = 1_000_000;

const ATTEMPTS_PER_SECOND = 2_000;
const EMBEDDED_P95_MS = 250;
const SERVER_P95_MS = 20;
/** Questions under way at any time. */
const UNDER_WAY = 2;
const QUESTIONS = 50;
const QUESTIONS_WHOLE = 1_000;
/** Not counted: connections are opened and code is compiled. */
const WARM_UP = 10;

/** A log that ends now; its endpoints are registered in pairs of one event type. */
async function planLog(
  world: World,
  tenantId: string,
  log: { readonly endpoints: number; readonly deliveries: number; readonly spanMs: number },
): Promise<LogPlan> {
  const typeOf = (index: number): EventType => EVENT_TYPES[Math.floor(index / 2) % 4] ?? 'PIX_OUT';
  const registered = await registerEndpoints(
    world,
    Array.from({ length: log.endpoints }, (_, index) => ({
      tenantId,
      path: `/${tenantId}/${index}`,
      eventType: typeOf(index),
    })),
  );
  const endpoints = registered.map(({ ref }, index) => ({ ref, eventType: typeOf(index) }));
  const to = Date.now();
  return { tenantId, endpoints, deliveries: log.deliveries, from: to - log.spanMs, to };
}

const clientOf = ({ stack }: World, tenantId: string): Client =>
  clientFor(stack.clientOf(tenantId), stack.description());

/** The attempts of a plan, from the first one appended until none waits to be projected; and whether all are there. */
async function measureProjection(stage: Stage, world: World, plan: LogPlan): Promise<boolean | undefined> {
  const { attempts, delivered, dead } = totalsOf(plan.deliveries);
  const run = `${attempts.toLocaleString('en-US')} attempts are projected`;
  return stage.run(run, async () => {
    const endUsage = beginSystemUsage(world.pids());
    const startedAt = monotonicMicros();
    const account = await followProjections(world, () =>
      fillLog(world.stack.description().kafkaBrokers, plan),
    );
    const { usage: processes, othersPercent } = endUsage();
    const found = await countLogged(clientOf(world, LOG), plan);
    if (found.delivered !== delivered || found.dead !== dead)
      throw new VoidRun(
        `${found.delivered} delivered and ${found.dead} dead of ${delivered} and ${dead} are in the log`,
      );
    const secondsUntil = (projection: string): number =>
      ((account.zeroSince(projection) ?? NaN) - startedAt) / 1_000_000;
    stage.report({
      run,
      ledger: `attempts=${attempts} delivered=${found.delivered} dead=${found.dead} lost=0`,
      figures: [
        {
          name: 'attempts each second in the delivery log',
          value: attempts / secondsUntil('attempts'),
          unit: '1/s',
          bar: atLeast(ATTEMPTS_PER_SECOND),
        },
        { name: 'lag of the log, at most', value: account.longestSeconds('attempts'), unit: 's' },
        { name: 'until the health counts them all', value: secondsUntil('health'), unit: 's' },
        {
          name: 'CPU of the whole system for each attempt',
          value: cpuOf(processes, () => true) / attempts,
          unit: 'µs',
        },
        othersFigure(othersPercent),
      ],
      usage: { deliveries: attempts, each: 'attempt', processes },
    });
    return true;
  });
}

const timesOf = (name: string, histogram: Histogram, bar: Bar): readonly Figure[] => [
  { name: `${name}, p50`, value: histogram.percentile(0.5) / 1_000, unit: 'ms' },
  { name: `${name}, p95`, value: histogram.percentile(0.95) / 1_000, unit: 'ms', bar },
];

interface Asked {
  readonly client: Client;
  readonly queries: readonly LogQuery[];
}

/** Each query in turn, some questions side by side; a wrong answer voids them all. */
async function measureQueries(stage: Stage, world: World, asked: readonly Asked[]): Promise<void> {
  const run = `queries, ${UNDER_WAY} at a time`;
  await stage.run(run, async () => {
    const questions = stage.whole ? QUESTIONS_WHOLE : QUESTIONS;
    const bar = atMost(world.database.isEmbedded ? EMBEDDED_P95_MS : SERVER_P95_MS);
    const figures: Figure[] = [];
    const endUsage = beginSystemUsage(world.pids());
    for (const { client, queries } of asked)
      for (const { name, ask } of queries) {
        const askOnce = (turn: number): Promise<boolean> => ask(client, turn);
        await askInTurn(name, askOnce, { from: 0, to: WARM_UP, underWay: UNDER_WAY });
        const turns = { from: WARM_UP, to: WARM_UP + questions, underWay: UNDER_WAY };
        figures.push(...timesOf(name, await askInTurn(name, askOnce, turns), bar));
      }
    const { othersPercent } = endUsage();
    const all = asked.reduce((sum, { queries }) => sum + queries.length, 0) * questions;
    stage.report({
      run,
      ledger: `asked=${all} right=${all} wrong=0`,
      figures: [...figures, othersFigure(othersPercent)],
    });
  });
}

/** What is asked for besides the log: payments that were delivered, and an endpoint's whole day. */
async function prepare(world: World): Promise<readonly Asked[]> {
  const paid = await registerEndpoints(world, [{ path: '/query-paid', tenantId: PAID }]);
  const events = { count: EVENTS, seed: nextSeed(), tenants: [PAID] };
  await flood(world, paid, EVENTS, { events });
  const day = await planLog(world, DAY, { endpoints: 2, deliveries: DAY_DELIVERIES, spanMs: DAY_MS });
  await followProjections(world, () => fillLog(world.stack.description().kafkaBrokers, day));
  const made = [...makeEvents(events)].map(({ event }) => event);
  return [
    { client: clientOf(world, DAY), queries: queriesOfHealth(day) },
    { client: clientOf(world, PAID), queries: queriesOfEvents(made) },
  ];
}

async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: [LOG, DAY, PAID], ports: 1, withQueryApi: true });
  stage.print(`  database: ${world.database.title}`);
  const asked = await stage.run('what is asked for besides the log', () => prepare(world));
  if (!asked) return;
  const { count } = stage.sizes;
  const spanMs = (DAY_MS * Math.min(count, DAY_ATTEMPTS)) / DAY_ATTEMPTS;
  const plan = await planLog(world, LOG, { endpoints: ENDPOINTS, deliveries: deliveriesFor(count), spanMs });
  if ((await measureProjection(stage, world, plan)) !== true) return;
  await measureQueries(stage, world, [
    { client: clientOf(world, LOG), queries: queriesOfLog(plan) },
    ...asked,
  ]);
}

export const query: Scenario = {
  title:
    'attempts a second that query-api projects, then each documented query; the embedded database, or the one of MONGODB_URI; count: attempts',
  usual: { count: 15_000, seconds: 0 },
  whole: { count: 1_000_000, seconds: 0 },
  measure,
};
