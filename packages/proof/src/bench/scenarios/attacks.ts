import { setTimeout as delay } from 'node:timers/promises';
import { COSTS, buildEvent } from '@webhooks/testkit';
import type { Cost } from '@webhooks/testkit';
import { DeliveryAccount, feedTopic, newReport, readFeedLine } from '@webhooks/testkit/account';
import type { Acceptance, Receipt } from '@webhooks/testkit/account';
import { BENCH_EVENT_TYPE } from '../load/generator.js';
import type { LoadPlan } from '../load/generator.js';
import { startGenerator, startReceiver } from '../load/processes.js';
import { monotonicMicros, percentilesOf } from '../measure.js';
import { atMost, figure, percentileFigures, showRuns } from '../report.js';
import type { Figure, Measurement } from '../report.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { waitForProjections, registerFanOut } from '../world/world.js';
import type { World } from '../world/world.js';
import { nextSeed, runLoad } from '../world/run.js';
import { openCaller } from './handlers.js';

const STEADY = 'steady';
const STEADY_PER_SECOND = 20;
const ATTACK_PER_SECOND = 10;
const WORST_SECONDS = 10;
const WORST_P99_MS = 500;
const QUERIES = 'queries';
/** Number of events of the tenant that queries; every fourth one pays the same charge. */
const OWN_EVENTS = 12_000;
/** Loops that query without a pause: a third of them count missed deliveries, the others read the charge. */
const LOOPS = 12;

/**
 * The load of an attacking tenant, each of whose events goes to `webhooks` endpoints. With a `cost`, each endpoint is a host with that
 * cost, at its own port.
 */
interface Attack extends Pick<LoadPlan, 'count' | 'perSecond'> {
  readonly tenantId: string;
  readonly cost?: Cost;
  readonly webhooks: number;
}

async function prepare(world: World, { tenantId, cost, webhooks, ...load }: Attack) {
  const { tls, kafkaBrokers: brokers } = world.stack.description();
  const receiver = await startReceiver({ ...tls, ...(cost ? { ports: webhooks, cost } : { ports: 1 }) });
  await registerFanOut({ ...world, receiver }, tenantId, webhooks);
  const target = { kind: 'topic', brokers } as const;
  const generator = await startGenerator({ ...load, target, seed: nextSeed(), tenants: [tenantId] });
  return {
    meanwhile: () => generator.go(),
    stop: () => Promise.all([generator.stop(), receiver.stop()]),
  };
}

function figuresOf(
  what: string,
  account: DeliveryAccount,
  startedAt: number,
  seconds: number,
): readonly Figure[] {
  const between = (from: number, until: number) => {
    const micros = (second: number): number => startedAt + 1_000_000 * second;
    return percentilesOf(account.latencies('acknowledgedAt', { due: [micros(from), micros(until)] }));
  };
  const starts = Array.from({ length: Math.max(1, seconds - WORST_SECONDS) }, (_, second) => second);
  const p99s = starts.map((second) => between(second, second + WORST_SECONDS).p99);
  return [
    ...percentileFigures(what, between(0, Infinity)),
    figure('p99 in its worst ten seconds', Math.max(...p99s) / 1_000, 'ms', atMost(WORST_P99_MS)),
  ];
}

/** Measures the deliveries of a steady tenant while another one attacks. */
async function measureDeliveries({ sizes, openWorld, run }: ScenarioContext): Promise<void> {
  const { count, seconds, fanOut: { webhooks, events } = { webhooks: 1, events: 1 } } = sizes;
  const rate = { count: ATTACK_PER_SECOND * seconds, perSecond: ATTACK_PER_SECOND };
  const all: readonly Attack[] = [
    ...COSTS.map((cost) => ({ tenantId: cost, cost, webhooks: count, ...rate })),
    // Last, because its deliveries are not waited for.
    { tenantId: 'fan-outs', webhooks, count: events },
  ];
  const world = await openWorld({ tenants: [STEADY, ...all.map(({ tenantId }) => tenantId)], ports: 1 });
  const endpoints = await registerFanOut(world, STEADY, 1);
  const load = { perSecond: STEADY_PER_SECOND, seconds };
  await runLoad(world, endpoints, load);
  for (const attack of all) {
    const { meanwhile, stop } = await prepare(world, attack);
    await run(`a tenant attacks: ${attack.tenantId}`, async () => {
      const result = await runLoad(world, endpoints, load, { meanwhile });
      const what = 'another tenant, acknowledgement to arrival';
      return showRuns([result], figuresOf(what, result.account, result.load.startedAt, seconds));
    }).finally(stop);
  }
}

/** Sends queries at the rate of the steady tenant. A 2xx response counts as a delivery, any other as missing. */
async function queryAtRate(
  call: () => Promise<{ readonly status: number }>,
  seconds: number,
): Promise<Measurement> {
  const [sent, responses]: [Acceptance[], Promise<Receipt>[]] = [[], []];
  const startedAt = monotonicMicros();
  for (let turn = 0; turn < STEADY_PER_SECOND * seconds; turn += 1) {
    const [id, dueAt] = [String(turn), startedAt + (1_000_000 * turn) / STEADY_PER_SECOND];
    await delay(Math.max(0, dueAt - monotonicMicros()) / 1_000);
    sent.push({ id, tenantId: STEADY, dueAt, acknowledgedAt: dueAt });
    const responding = call().catch(() => ({ status: 0 }));
    responses.push(
      responding.then(({ status }) => ({ id, path: '', status, receivedAt: monotonicMicros() })),
    );
  }
  const account = new DeliveryAccount(sent, [{ path: '', tenantId: STEADY }]);
  account.note(await Promise.all(responses));
  const { accepted, delivered } = account.totals();
  const failures = figure("another tenant's failures", accepted - delivered, '', atMost(0));
  const figures = figuresOf('another tenant, from query to response', account, startedAt, seconds);
  return { account: `sent=${accepted} responses=${delivered}`, figures: [failures, ...figures] };
}

/** Measures the queries of a steady tenant while another one queries without a pause. */
async function measureQueries({ sizes, openWorld, run }: ScenarioContext): Promise<void> {
  const world = await openWorld({ tenants: [STEADY, QUERIES], ports: 1, withQueryApi: true });
  const [eventType, txId] = [BENCH_EVENT_TYPE, 'thechargeofallthesepayments'] as const;
  const known = buildEvent({ tenantId: STEADY, eventType });
  const own = Array.from({ length: OWN_EVENTS }, (_, index) =>
    buildEvent({ tenantId: QUERIES, eventType, data: index % 4 === 0 ? { txId } : {} }),
  );
  const lines = [known, ...own].map((event) => readFeedLine(JSON.stringify(event)));
  await feedTopic(world.stack.description().kafkaBrokers, lines, newReport());
  await waitForProjections(world);
  // Registered after the events, so this webhook missed all of them.
  const [{ ref } = { ref: '' }] = await registerFanOut(world, QUERIES, 1);
  const call = openCaller(world, [STEADY, QUERIES]);
  let isOver = false;
  const loop = async (path: string, data?: object): Promise<void> => {
    while (!isOver) await call(QUERIES, path, data);
  };
  const missed = { ref, status: 'missed', from: known.occurredAt, dryRun: true };
  await run('a tenant attacks: queries', async () => {
    const loops = Array.from({ length: LOOPS }, (_, index) =>
      index % 3 === 0 ? loop('webhooks/redeliveries', missed) : loop(`pix/cob/${txId}`),
    );
    const path = `pix/transaction?endToEndId=${known.data.endToEndId}`;
    const shown = queryAtRate(() => call(STEADY, path), sizes.seconds).finally(() => (isOver = true));
    const [result] = await Promise.all([shown, ...loops]);
    return result;
  });
}

export const attacks: Scenario = {
  title:
    'a tenant costs the worker or query-api CPU time, by its endpoints, fan-outs and queries, beside a steady tenant; count: webhooks for each of its 10 events/s, seconds: of each attack',
  usual: { count: 16, seconds: 20, fanOut: { webhooks: 200, events: 500 } },
  whole: { count: 32, seconds: 60, fanOut: { webhooks: 1_000, events: 2_000 } },
  measure: async (context) => {
    await measureDeliveries(context);
    await measureQueries(context);
  },
};
