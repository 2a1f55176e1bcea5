import type { DynamicPaidData } from '@webhooks/contracts';
import { startEndpoint } from '@webhooks/testkit';
import type { ProjectionLag, Receipt } from '@webhooks/testkit/account';
import { request } from 'undici';
import { makeEvents } from '../load/generator.js';
import { monotonicMicros, percentilesOf } from '../measure.js';
import { STRIDE } from '../query/queries.js';
import { atMost, figure, showRuns } from '../report.js';
import type { Bar, Figure, Measurement } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { waitForProjections, clientOf, registerFanOut, registerTen, tenTenants } from '../world/world.js';
import type { World } from '../world/world.js';
import { nextSeed, runLoad } from '../world/run.js';

const PER_SECOND = 1_500;
const P99_MS = 250;
const UNKNOWN_PERCENT = 0.1;
/** Not in the figures: connections are opened and code is compiled. */
const WARM_UP_SECONDS = 15;
/** Time between two queries while query-api reads a backlog. */
const QUERY_EVERY_MS = 10;
const TENANTS = tenTenants('handlers');
const BEHIND = 'behind';
const QUERY_API = 'query-api';

type QueryOf = (data: DynamicPaidData) => string;
const transactionOf: QueryOf = ({ endToEndId }) => `pix/transaction?endToEndId=${endToEndId}`;
const chargeOf: QueryOf = ({ txId }) => `pix/cob/${txId}`;

/** A response of query-api. */
interface TimedResponse {
  readonly status: number;
  /** From the query until the response was read, in microseconds. */
  readonly micros: number;
}

/** Returns a function that queries query-api as one of these tenants; with `data`, by a POST. It resolves when the response was read. */
export function openCaller(world: World, tenants: readonly string[]) {
  const clients = new Map(tenants.map((tenantId) => [tenantId, clientOf(world, tenantId)]));
  const { queryApi } = world.stack.description();
  return async (tenantId: string, path: string, data?: object): Promise<TimedResponse> => {
    const authorization = `Bearer ${await clients.get(tenantId)?.token()}`;
    const startedAt = monotonicMicros();
    const sent = data && { method: 'POST', body: JSON.stringify(data) };
    const { statusCode: status, body } = await request(`${queryApi}/integration/v1/${path}`, {
      ...sent,
      headers: { authorization, 'content-type': 'application/json' },
    });
    await body.dump();
    return { status, micros: monotonicMicros() - startedAt };
  };
}
/** `isBehind`: while query-api reads a backlog, 503 and slow responses have no bar. */
function figuresOf(responses: readonly TimedResponse[], isBehind: boolean): readonly Figure[] {
  const { p50, p99 } = percentilesOf(responses.map(({ micros }) => micros));
  const share = (name: string, isWanted: (status: number) => boolean, bar?: Bar): Figure => {
    const wanted = responses.filter(({ status }) => isWanted(status));
    return figure(`responses with ${name}`, (100 * wanted.length) / responses.length, '%', bar);
  };
  const barred = (value: number) => (isBehind ? undefined : atMost(value));
  return [
    figure('queries', responses.length, ''),
    share('404', (status) => status === 404, atMost(0)),
    share('503', (status) => status === 503, barred(UNKNOWN_PERCENT)),
    share('another fault', (status) => ![200, 404, 503].includes(status), atMost(0)),
    figure('from query to response, p50', p50 / 1_000, 'ms'),
    figure('from query to response, p99', p99 / 1_000, 'ms', barred(P99_MS)),
  ];
}

/** An endpoint whose handler queries the payment before it responds. */
async function openHandler(world: World) {
  const call = openCaller(world, TENANTS);
  const { certPem, keyPem } = await world.stack.authority.issue(['localhost']);
  const endpoint = await startEndpoint({ certPem, keyPem, remember: 0, keepAliveTimeoutMs: 0 });
  const [receipts, responses]: [Receipt[], TimedResponse[]] = [[], []];
  const handler = { endpoint, receipts, responses, queryOf: transactionOf };
  endpoint.replyWith(async ({ id, path, body }) => {
    const { data } = JSON.parse(body.toString()) as { readonly data: DynamicPaidData };
    responses.push(await call(path.slice(1), handler.queryOf(data)));
    receipts.push({ id, path, status: 200, receivedAt: monotonicMicros() });
    return 200;
  });
  return handler;
}
type Handler = Awaited<ReturnType<typeof openHandler>>;

async function measureHandlers(context: ScenarioContext, world: World, handler: Handler): Promise<void> {
  const { endpoint, receipts, responses } = handler;
  const receiver = {
    ...world.receiver,
    pid: process.pid,
    origins: [endpoint.origin],
    take: () => receipts.splice(0),
  };
  const handlerWorld = { ...world, receiver };
  const endpoints = await registerTen(handlerWorld, 'handlers');
  const load = { perSecond: PER_SECOND, seconds: context.sizes.seconds };
  await runLoad(handlerWorld, endpoints, { ...load, seconds: WARM_UP_SECONDS });
  const runs = { 'by endToEndId': {}, 'by txId, foreign keys': { foreignKeys: true } };
  for (const [name, options] of Object.entries(runs)) {
    handler.queryOf = name === 'by endToEndId' ? transactionOf : chargeOf;
    responses.length = 0;
    await context.run(`handlers of ${PER_SECOND} payments a second, ${name}`, async () =>
      showRuns([await runLoad(handlerWorld, endpoints, load, options)], figuresOf(responses, false)),
    );
  }
}

/**
 * Returns a function that takes the lags of topics that no longer grow. It returns the longest time, in microseconds, for which a lagging
 * projection made no progress.
 */
function watchProgress() {
  let longest = 0;
  const seen = new Map<string, ProjectionLag & { readonly at: number }>();
  return (lags: readonly ProjectionLag[] = []): number => {
    for (const lag of lags) {
      const [last, at] = [seen.get(lag.projection), monotonicMicros()];
      if (lag.records === 0 || last?.records !== lag.records) seen.set(lag.projection, { ...lag, at });
      else longest = Math.max(longest, at - last.at);
    }
    return longest;
  };
}

/** Delivers payments while query-api is down, then queries them from its start until it has read them all. */
async function measureBehind(world: World, count: number): Promise<Measurement> {
  const { fleet } = world.stack;
  const call = openCaller(world, [BEHIND]);
  const endpoints = await registerFanOut(world, BEHIND, 1);
  const seed = nextSeed();
  const events = makeEvents({ count, seed, tenants: [BEHIND] });
  await fleet.stop(QUERY_API);
  const run = await runLoad(world, endpoints, { count }, { seed });
  await fleet.start(QUERY_API);
  const startedAt = monotonicMicros();
  const sent: Promise<TimedResponse>[] = [];
  const timer = setInterval(() => {
    const event = events[(sent.length * STRIDE) % count];
    sent.push(call(BEHIND, transactionOf(event?.data as DynamicPaidData)));
  }, QUERY_EVERY_MS);
  const longestStall = watchProgress();
  const readAt = await waitForProjections(world, undefined, longestStall).finally(() => clearInterval(timer));
  const responses = await Promise.all(sent);
  const read = figure('everything was read in', (readAt - startedAt) / 1_000_000, 's');
  // Each projection makes progress every second.
  const stalled = figure('longest stall of a projection', longestStall() / 1_000_000, 's', atMost(1));
  return showRuns([run], [...figuresOf(responses, true), read, stalled]);
}

async function measure(context: ScenarioContext): Promise<void> {
  const tenants = [...TENANTS, BEHIND];
  const world = await context.openWorld({ tenants, ports: 1, withQueryApi: true });
  const handler = await openHandler(world);
  try {
    await measureHandlers(context, world, handler);
  } finally {
    await handler.endpoint.close();
  }
  const { count } = context.sizes;
  await context.run(`queries behind ${count.toLocaleString('en-US')} events`, () =>
    measureBehind(world, count),
  );
}

export const handlers: Scenario = {
  title:
    'handlers that query each payment before they respond, then queries while query-api reads a backlog; seconds: of each load, count: events of the backlog',
  usual: { count: 20_000, seconds: 10 },
  whole: { count: 300_000, seconds: 60 },
  measure,
};
