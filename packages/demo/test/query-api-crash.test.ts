import type { Client } from '@webhooks/client';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { countExactly } from './count-exactly.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

/** The long run has 50,000. */
const DELIVERIES = Number(process.env['REDELIVERIES'] ?? 1_000);
/** Kills of query-api and of the database during a redelivery: one, or two in a long run. A killed instance's job waits until its lease ends. */
const KILLS = DELIVERIES > 10_000 ? 4 : 2;
const BATCH = 500;
const LONG = { timeoutMs: Math.max(180_000, DELIVERIES * 30) };
const TENANT = 'acme';

let test: TestStack;
let client: Client;
let endpoint: Endpoint;

beforeAll(async () => {
  test = await startTestStack(
    { 'query-api': { REDELIVERIES_PER_SECOND: '400' } },
    { withQueryApi: true, withOwnEngines: true },
  );
  client = test.clientOf(TENANT);
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem, remember: 1 });
}, 300_000);
afterAll(async () => {
  await test.stop();
  await endpoint.close();
}, 60_000);

/** Ends a process as a power cut would; the stack starts it again. */
async function kill(name: 'query-api' | 'mongodb'): Promise<void> {
  const pidOf = (): number | undefined => test.stack.description().processes[name];
  const pid = await eventually(() => pidOf() ?? false, LONG);
  process.kill(pid, 'SIGKILL');
  await eventually(() => pidOf() !== undefined && pidOf() !== pid, LONG);
}

it(
  'query-api, killed with its database during projection and redelivery, misses nothing and redelivers nothing else',
  async () => {
    const { ref } = await client.register({ eventType: 'PIX_STATIC', endpointUrl: endpoint.url });
    const input = { ref, status: 'delivered', from: new Date(Date.now() - 60_000).toISOString() } as const;
    const make = () => buildEvent({ tenantId: TENANT, eventType: 'PIX_STATIC' });
    const isProjecting = async (): Promise<boolean> => {
      const page = await client.deliveries(input).catch(() => undefined);
      return page !== undefined && page.data.length > 0;
    };
    for (let sent = 0; sent < DELIVERIES; sent += BATCH) {
      await client.postEvents(Array.from({ length: BATCH }, make));
      if (sent === 0) await kill('query-api');
      if (sent === BATCH) {
        // Killed while it makes its first tables, the embedded database does not start again.
        await eventually(isProjecting, LONG);
        await kill('mongodb');
      }
    }
    // Counting is work for the database too, which would be missing for what is to be counted.
    const seldom = { ...LONG, intervalMs: DELIVERIES / 10 };
    await eventually(async () => (await countExactly(client, input)) === DELIVERIES, seldom);
    expect(endpoint.stats().distinctIds).toBe(DELIVERIES);

    const before = endpoint.stats().arrivals;
    const { id, matched, matchedIsLowerBound } = await client.startRedelivery(input);
    expect(matchedIsLowerBound ? matched <= DELIVERIES : matched === DELIVERIES).toBe(true);
    for (let killed = 0; killed < KILLS; killed += 1) {
      const reached = ((killed + 1) * DELIVERIES) / (KILLS + 2);
      await eventually(() => endpoint.stats().arrivals >= before + reached, LONG);
      await kill(killed % 2 === 0 ? 'query-api' : 'mongodb');
    }
    const done = await eventually(async () => {
      const job = await client.redelivery(id).catch(() => undefined);
      return job?.state === 'completed' && job;
    }, LONG);
    expect(done).toMatchObject({ sent: DELIVERIES, refused: 0, expired: 0 });
    // Each is sent again once at least; a page that was published and not noted comes twice.
    await eventually(() => endpoint.stats().arrivals >= before + DELIVERIES, LONG);
    expect(endpoint.stats().arrivals).toBeLessThanOrEqual(before + DELIVERIES + KILLS * 100);
    expect(endpoint.stats().distinctIds).toBe(DELIVERIES);
    // One whose attempt failed is pending until it was retried.
    await eventually(async () => {
      const { data } = await client.deliveries({ ref, limit: 200 });
      expect(data.filter(({ status }) => status !== 'delivered')).toEqual([]);
    }, LONG);
  },
  LONG.timeoutMs * 2,
);
