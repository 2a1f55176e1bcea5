import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@webhooks/client';
import type { EventType, PaymentEvent } from '@webhooks/contracts';
import { freePort } from '@webhooks/local';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { countExactly } from './count-exactly.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

/** Enough that each instance of query-api owns partitions of some. */
const ASKED = 24;
/** In one request. */
const DELIVERIES = 500;
/** Of the 2 s that a query waits. */
const HELD_MS = 500;
const TENANT = 'acme';
const OTHER = 'query-api-2';
const LONG = { timeoutMs: 60_000 };

let test: TestStack;
let client: Client;
let endpoint: Endpoint;
let ref: string;
/** Stopped by a signal; resumed at the end in any case. */
const stopped = new Set<number>();

beforeAll(async () => {
  test = await startTestStack({}, { withQueryApi: true, withOwnEngines: true });
  client = test.clientOf(TENANT);
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem, remember: 1 });
  ({ ref } = await client.register({ eventType: 'PIX_STATIC', endpointUrl: endpoint.url }));
}, 300_000);
afterEach(() => {
  for (const pid of stopped) process.kill(pid, 'SIGCONT');
  stopped.clear();
});
afterAll(async () => {
  await test.stop();
  await endpoint.close();
}, 60_000);

/** Stops a process as a machine that freezes would. Returns how to resume it. */
function hold(name: string): () => void {
  const pid = test.stack.description().processes[name];
  if (pid === undefined) throw new Error(`expected a process ${name}`);
  process.kill(pid, 'SIGSTOP');
  stopped.add(pid);
  return () => {
    process.kill(pid, 'SIGCONT');
    stopped.delete(pid);
  };
}

async function post(eventType: EventType, count: number): Promise<readonly PaymentEvent[]> {
  const events = Array.from({ length: count }, () => buildEvent({ tenantId: TENANT, eventType }));
  await client.postEvents(events);
  return events;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly ms: number;
}

/** Asks the first instance once for each of these. */
async function ask(endToEndIds: readonly string[]): Promise<readonly Answer[]> {
  const authorization = `Bearer ${await client.token()}`;
  const url = `${test.stack.description().queryApi ?? ''}/integration/v1/pix/transaction`;
  const askOne = async (endToEndId: string): Promise<Answer> => {
    const started = performance.now();
    const response = await fetch(`${url}?endToEndId=${endToEndId}`, { headers: { authorization } });
    await response.arrayBuffer();
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, ms: performance.now() - started };
  };
  return Promise.all(endToEndIds.map(askOne));
}

const idsOf = (events: readonly PaymentEvent[]): readonly string[] =>
  events.map(({ data }) => data.endToEndId);
const statuses = (answers: readonly Answer[]): readonly number[] =>
  [...new Set(answers.map(({ status }) => status))].sort();

/**
 * Two instances share the partitions of `payments.events`. The second one is stopped: what it would project stands still,
 * while the first one, the broker and the database answer as ever. Its share goes to the first one only when its session
 * of 6 s is over, which none of these waits for.
 */
describe('while half of the projection of events is stalled', () => {
  beforeAll(async () => {
    const env = { PORT: String(await freePort()) };
    await test.stack.fleet.startReplica({ name: OTHER, like: 'query-api', env });
  }, LONG.timeoutMs);
  afterAll(() => test.stack.fleet.stop(OTHER), LONG.timeoutMs);

  it('for half a second, a query waits and gets 200', async () => {
    const goOn = hold(OTHER);
    const events = await post('PIX_DYNAMIC_PAID', ASKED);
    const asked = ask(idsOf(events));
    expect(await Promise.race([asked, wait(HELD_MS, 'some wait')])).toBe('some wait');
    goOn();
    expect(statuses(await asked)).toEqual([200]);
  });

  it('for longer, a query gets 503 with Retry-After and never 404, and 200 or 404 afterwards', async () => {
    const unknown = idsOf([buildEvent({ tenantId: TENANT })]);
    const goOn = hold(OTHER);
    const ids = idsOf(await post('PIX_DYNAMIC_PAID', ASKED));
    const answers = await ask([...ids, ...unknown]);
    goOn();
    expect(statuses(answers)).toEqual([200, 503]);
    const refused = answers.filter(({ status }) => status === 503);
    expect(new Set(refused.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['1']));
    // It waits for 2 s, and every caller is answered within 5 s.
    for (const { ms } of refused) expect(ms > 1_900 && ms < 5_000).toBe(true);
    expect(answers.at(-1)?.status).toBe(503);
    expect(await eventually(async () => statuses(await ask(ids)))).toEqual([200]);
    expect(statuses(await ask(unknown))).toEqual([404]);
  });
});

/** The value of a metric of query-api for each projection. */
async function metric(name: string): Promise<Readonly<Record<string, number>>> {
  const admin = test.stack.description().admin['query-api'] ?? '';
  const text = await (await fetch(`${admin}/metrics`)).text();
  const lines = text.matchAll(new RegExp(`^${name}\\{projection="(\\w+)"\\} (\\S+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, projection = '', value]) => [projection, Number(value)]));
}

const PROJECTIONS = ['attempts', 'events', 'health'];

it(
  'a stalled database slows no delivery, and the lag is reported until the log is complete',
  async () => {
    const input = { ref, status: 'delivered', from: new Date(Date.now() - 60_000).toISOString() } as const;
    const goOn = hold('mongodb');
    const started = performance.now();
    await post('PIX_STATIC', DELIVERIES);
    await eventually(() => endpoint.stats().distinctIds === DELIVERIES, LONG);
    const deliveredMs = Math.round(performance.now() - started);
    await eventually(async () => {
      const records = await metric('query_projection_lag_records');
      expect(Object.keys(records).sort()).toEqual(PROJECTIONS);
      expect(records['events']).toBe(DELIVERIES);
      expect(Math.min(...Object.values(records))).toBeGreaterThan(0);
    }, LONG);
    await eventually(async () => {
      const seconds = Object.values(await metric('query_projection_lag_seconds'));
      expect(Math.min(...seconds)).toBeGreaterThan(2);
    }, LONG);
    goOn();
    const back = performance.now();
    await eventually(async () => (await countExactly(client, input)) === DELIVERIES, LONG);
    const completeMs = Math.round(performance.now() - back);
    await eventually(async () => {
      for (const name of ['query_projection_lag_records', 'query_projection_lag_seconds'])
        expect(Object.values(await metric(name))).toEqual([0, 0, 0]);
    }, LONG);
    process.stdout.write(
      `database stopped: deliveries=${DELIVERIES} of ${DELIVERIES} in ${deliveredMs} ms; log complete ${completeMs} ms after it went on
`,
    );
  },
  2 * LONG.timeoutMs,
);
