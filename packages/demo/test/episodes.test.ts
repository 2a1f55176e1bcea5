import type { Client } from '@webhooks/client';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

const TENANT = 'acme';
/** The clock is compressed: an endpoint counts as failing after a second instead of five minutes. */
const SETTINGS = {
  'query-api': { ENDPOINT_FAILING_AFTER: '1s' },
  'delivery-worker': {
    RETRY_DELAYS: Array.from({ length: 50 }, () => '500ms').join(','),
    RETRY_JITTER_PERCENT: '0',
    BREAKER_FAILURES: '1000000',
  },
};
const LONG = { timeoutMs: 120_000 };

let test: TestStack;
let client: Client;
let endpoint: Endpoint;
let alerted: Endpoint;

beforeAll(async () => {
  test = await startTestStack(SETTINGS, { withQueryApi: true, withOwnEngines: true });
  client = test.clientOf(TENANT);
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem });
  alerted = await startEndpoint({ certPem, keyPem });
}, 300_000);
afterAll(async () => {
  await test.stop();
  await Promise.all([endpoint.close(), alerted.close()]);
}, 60_000);

/** Ends a process as a power cut would; the stack starts it again. */
async function kill(name: 'delivery-worker' | 'query-api' | 'mongodb'): Promise<void> {
  const pidOf = (): number | undefined => test.stack.description().processes[name];
  const pid = await eventually(() => pidOf() ?? false, LONG);
  process.kill(pid, 'SIGKILL');
  await eventually(() => pidOf() !== undefined && pidOf() !== pid, LONG);
}

async function registerAlertEndpoint(): Promise<void> {
  const authorization = `Bearer ${await client.token()}`;
  const response = await fetch(`${test.stack.description().configApi}/integration/v1/alert-endpoints`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ endpointUrl: alerted.url }),
  });
  expect(response.status).toBe(200);
}

interface Alert {
  readonly type: string;
  readonly data: { readonly ref: string; readonly since: string };
}

const alerts = (): Alert[] => {
  const bodies = new Map(alerted.arrivals.map(({ id, body }) => [id, body]));
  return [...bodies.values()].map((body) => JSON.parse(String(body)) as Alert);
};

/** Lets the endpoint fail until it is alerted, then work until that is, with a kill in each. */
async function failAndRecover(kills: readonly [Parameters<typeof kill>[0], Parameters<typeof kill>[0]]) {
  const before = alerts().length;
  endpoint.replyWith(500);
  await client.postEvents([buildEvent({ tenantId: TENANT, eventType: 'PIX_STATIC' })]);
  const arrivals = endpoint.stats().arrivals;
  await eventually(() => endpoint.stats().arrivals > arrivals, LONG);
  await kill(kills[0]);
  await eventually(() => alerts().length === before + 1, LONG);
  endpoint.replyWith(200);
  await kill(kills[1]);
  await eventually(() => alerts().length === before + 2, LONG);
}

it('an endpoint that fails and recovers twice is two episodes and four alerts, through kills of worker, query-api and database', async () => {
  const { ref } = await client.register({ eventType: 'PIX_STATIC', endpointUrl: endpoint.url });
  await registerAlertEndpoint();
  await failAndRecover(['delivery-worker', 'query-api']);
  await failAndRecover(['mongodb', 'delivery-worker']);

  const seen = alerts();
  const kinds = ['endpoint.failing', 'endpoint.recovered'];
  expect(seen.map(({ type }) => type)).toEqual([...kinds, ...kinds]);
  expect(seen.map(({ data }) => data.ref)).toEqual([ref, ref, ref, ref]);
  const since = seen.map(({ data }) => data.since);
  expect([since[0], since[2]]).toEqual([since[1], since[3]]);
  expect(new Set(since).size).toBe(2);
  // A repeat after a crash has the same bytes.
  for (const { id, body } of alerted.arrivals)
    expect(alerted.arrivals.filter((one) => one.id === id && !one.body.equals(body))).toEqual([]);
  await eventually(async () => expect((await client.health(ref)).failingSince).toBeUndefined(), LONG);
}, 300_000);
