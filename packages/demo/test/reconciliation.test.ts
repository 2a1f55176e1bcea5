import { setInterval } from 'node:timers/promises';
import type { Client, DeliveryDetail, DeliveryStatus } from '@webhooks/client';
import type { EventType } from '@webhooks/contracts';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Reply, Arrival, Endpoint } from '@webhooks/testkit';
import { countExactly } from './count-exactly.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

/** The long run has 10,000. */
const NOTIFICATIONS = Number(process.env['QUERIES'] ?? 1_000);
/** Before them, one after another: how long it takes when nothing else is to be done, and until all is warm. */
const ALONE = NOTIFICATIONS / 10;
/** A load under which the projection is healthy: what a query takes is then its own time and not that of a queue. */
const PER_SECOND = Number(process.env['QUERIES_PER_SECOND'] ?? 100);
const TICK_MS = 20;
const BATCH = 500;
/** Deliveries of one job. */
const MANY = 300;
/** 10,000 notifications take minutes of a machine on which others work. */
const LONG = { timeoutMs: Math.max(120_000, NOTIFICATIONS * 60) };
const TENANT = 'acme';

let test: TestStack;
let client: Client;
const endpoints: Endpoint[] = [];

beforeAll(async () => {
  const worker = { RETRY_DELAYS: '1s,1s', BREAKER_FIRST_PAUSE: '1s' };
  test = await startTestStack({ 'delivery-worker': worker }, { withQueryApi: true });
  client = test.clientOf(TENANT);
}, 300_000);
afterAll(async () => {
  await test.stop();
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
}, 60_000);

type AnswerArrival = (arrival: Arrival) => number | Promise<number | Reply>;

async function register(
  eventType: EventType,
  reply: AnswerArrival | Reply | number,
): Promise<[string, Endpoint]> {
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  const endpoint = await startEndpoint({ certPem, keyPem, reply, remember: 100_000 });
  endpoints.push(endpoint);
  const before = await countKnown();
  const { ref } = await client.register({ eventType, endpointUrl: endpoint.url });
  await eventually(async () => (await countKnown()) > before, LONG);
  return [ref, endpoint];
}

/** How many webhooks the worker knows: a new one is in force for events that come later. */
async function countKnown(): Promise<number> {
  const metrics = await fetch(`${test.stack.description().admin['delivery-worker']}/metrics`);
  return Number(/^webhook_configurations (\d+)$/m.exec(await metrics.text())?.[1] ?? 0);
}

const delivery = (ref: string, status: DeliveryStatus): Promise<DeliveryDetail> =>
  eventually(async () => {
    const { data } = await client.deliveries({ ref, status });
    return data[0] !== undefined && client.delivery(data[0].deliveryId);
  }, LONG);

interface Query {
  readonly status: number;
  /** How many 503 came before. */
  readonly refused: number;
  readonly ms: number;
}

/** Of numbers in order: the least one that this share of them does not exceed. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;

/** Queries made inside the handlers of notifications, two in each. */
class Asked {
  readonly queries: Query[] = [];
  /** How much longer each handler took for both, which it asks side by side, in milliseconds. */
  readonly addedMs: number[] = [];

  add(both: readonly Query[]): void {
    this.queries.push(...both);
    this.addedMs.push(Math.max(...both.map(({ ms }) => ms)));
  }

  print(how: string): void {
    const of = (values: readonly number[]): string => {
      const sorted = values.toSorted((left, right) => left - right);
      return `p50=${quantile(sorted, 0.5).toFixed(1)} p99=${quantile(sorted, 0.99).toFixed(1)} ms`;
    };
    const missing = this.queries.filter(({ status }) => status === 404).length;
    const refused = this.queries.reduce((sum, query) => sum + query.refused, 0);
    process.stdout.write(
      `${how}: queries=${this.queries.length} in ${this.addedMs.length} handlers, 404=${missing} 503=${refused}; each adds ${of(this.queries.map(({ ms }) => ms))}, both ${of(this.addedMs)}\n`,
    );
  }
}

/** Queries as a consumer does: a 503 means that the newest events are not read yet, and it asks again. */
async function ask(path: string, token: string): Promise<Query> {
  const started = performance.now();
  for (let refused = 0; ; refused += 1) {
    const url = `${test.stack.description().queryApi ?? ''}/integration/v1/pix/${path}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    // Read to its end: the connection is used again.
    await response.arrayBuffer();
    const { status } = response;
    if (status !== 503) return { status, refused, ms: performance.now() - started };
  }
}

it(
  'a receiver that queries charge and transaction inside its handler never gets 404',
  async () => {
    const token = await client.token();
    let asked = new Asked();
    const [, endpoint] = await register('PIX_DYNAMIC_PAID', async ({ body }) => {
      const { data } = JSON.parse(body.toString('utf8')) as { data: Record<string, string> };
      const { txId = '', endToEndId = '' } = data;
      const paths = [`cob/${txId}`, `transaction?endToEndId=${endToEndId}`];
      asked.add(await Promise.all(paths.map((path) => ask(path, token))));
      return 200;
    });
    const post = (count: number): Promise<unknown> => {
      const make = () => buildEvent({ tenantId: TENANT, eventType: 'PIX_DYNAMIC_PAID' });
      return client.postEvents(Array.from({ length: count }, make));
    };
    let sent = 0;
    const notify = async (how: string, count: number, postAll: () => Promise<void>): Promise<void> => {
      asked = new Asked();
      await postAll();
      sent += count;
      await eventually(() => endpoint.stats().distinctIds === sent, LONG);
      await eventually(() => asked.addedMs.length >= count, LONG);
      asked.print(how);
      expect(asked.queries.filter(({ status }) => status !== 200)).toEqual([]);
    };
    await notify('one at a time', ALONE, async () => {
      for (let handled = 1; handled <= ALONE; handled += 1) {
        await post(1);
        await eventually(() => asked.addedMs.length >= handled, { ...LONG, intervalMs: 1 });
      }
    });
    await notify(`${PER_SECOND} a second`, NOTIFICATIONS, async () => {
      let posted = 0;
      for await (const began of setInterval(TICK_MS, performance.now())) {
        const due = Math.min(NOTIFICATIONS, ((performance.now() - began) * PER_SECOND) / 1_000);
        const count = Math.floor(due) - posted;
        if (count > 0) await post(count);
        posted += count;
        if (posted === NOTIFICATIONS) break;
      }
    });
    await notify('all at once', NOTIFICATIONS, async () => {
      for (let from = 0; from < NOTIFICATIONS; from += BATCH) await post(BATCH);
    });
  },
  LONG.timeoutMs * 2,
);

it(
  'a dead delivery is in the log with its attempts, and is redelivered with the same id and bytes',
  async () => {
    const [ref, endpoint] = await register('PIX_OUT', 500);
    await client.postEvents([buildEvent({ tenantId: TENANT, eventType: 'PIX_OUT' })]);
    const dead = await delivery(ref, 'dead');
    expect(dead.attempts.map(({ attempt, result, status }) => [attempt, result, status])).toEqual([
      [1, 'failed', 500],
      [2, 'failed', 500],
      [3, 'failed', 500],
    ]);
    const { lastHour, failures } = await eventually(async () => {
      const health = await client.health(ref);
      return health.lastHour.attempts === 3 && health;
    }, LONG);
    expect(lastHour.successRate).toBe(0);
    expect(failures).toMatchObject([{ class: '500', count: 3 }]);
    endpoint.replyWith(200);
    const { cycle } = await client.redeliver(dead.deliveryId);
    const delivered = await delivery(ref, 'delivered');
    expect(delivered.deliveryId).toBe(dead.deliveryId);
    expect(delivered.attempts.at(-1)).toMatchObject({ cycle, attempt: 1, result: 'delivered', status: 200 });
    const bodies = endpoint.arrivals.map(({ body }) => body.toString('utf8'));
    expect(new Set(bodies).size).toBe(1);
    expect(new Set(endpoint.arrivals.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  },
  LONG.timeoutMs * 2,
);

it(
  'a job redelivers many deliveries, and none that its filter does not match',
  async () => {
    const [ref, endpoint] = await register('PIX_STATIC', 200);
    const [, other] = await register('PIX_STATIC', 200);
    const from = new Date(Date.now() - 60_000).toISOString();
    const events = Array.from({ length: MANY }, () =>
      buildEvent({ tenantId: TENANT, eventType: 'PIX_STATIC' }),
    );
    await client.postEvents(events);
    const input = { ref, status: 'delivered', from } as const;
    await eventually(async () => (await countExactly(client, input)) === MANY, LONG);
    await eventually(() => other.stats().arrivals >= MANY, LONG);
    const before = endpoint.stats().arrivals;
    const { id } = await client.startRedelivery(input);
    const done = await eventually(async () => {
      const job = await client.redelivery(id);
      return job.state === 'completed' && job;
    }, LONG);
    expect(done).toMatchObject({ matched: MANY, sent: MANY, refused: 0, expired: 0 });
    await eventually(() => endpoint.stats().arrivals >= before + MANY, LONG);
    expect(endpoint.stats().distinctIds).toBe(MANY);
    expect(other.stats().arrivals).toBe(MANY);
  },
  LONG.timeoutMs * 2,
);

it(
  'a test notification is delivered as any other, its result is in the log and its identifiers resolve to a test',
  async () => {
    const [ref, endpoint] = await register('PIX_REVERSAL', 200);
    const { deliveryId, eventId } = await client.sendTest(ref);
    const delivered = await delivery(ref, 'delivered');
    expect(delivered).toMatchObject({ deliveryId, eventId });
    const [arrival] = endpoint.arrivals;
    const { id, data } = JSON.parse(String(arrival?.body)) as { id: string; data: { endToEndId: string } };
    expect(id).toBe(eventId);
    expect(await client.transaction(data.endToEndId)).toMatchObject({ test: true });
    await client.update({ ref, eventType: 'PIX_REVERSAL', endpointUrl: endpoint.url, enabled: false });
    await expect(client.sendTest(ref)).rejects.toMatchObject({ problem: { code: 'webhook-disabled' } });
  },
  LONG.timeoutMs,
);
