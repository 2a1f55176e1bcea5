import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EventType } from '@webhooks/contracts';
import { feedTopic, newReport, readFeedLine } from '@webhooks/testkit/account';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

/** `IN_FORCE_TRIALS=1000` is the long run. */
const TRIALS = Number(process.env['IN_FORCE_TRIALS'] ?? 80);
/** `STOPPED_SECONDS=30` is longer than the group waits for a member; the short one is longer than a configuration cache stays fresh. */
const STOPPED_MS = 1_000 * Number(process.env['STOPPED_SECONDS'] ?? 5);
/** What is appended later than this after the answer goes to the new configuration. */
const BOUND_MS = 1_000;
const TOGETHER = 5;
const STALLING_READER = pathToFileURL(join(import.meta.dirname, '../dist/test/stalling-reader.js')).href;
const LONG = { timeoutMs: 60_000, intervalMs: 20 };
interface Route {
  readonly tenantId: string;
  readonly eventType: EventType;
}
const ROUTES: readonly Route[] = ['acme', 'globex'].flatMap((tenantId) =>
  (['PIX_DYNAMIC_PAID', 'PIX_OUT', 'PIX_REVERSAL'] as const).map((eventType) => ({ tenantId, eventType })),
);
/** `event path` of what must never arrive: appended one bound after its webhook was disabled. */
const forbidden: string[] = [];

let test: TestStack;
let endpoint: Endpoint;
/** `event path`, as they arrive. */
const arrived = new Set<string>();
/** Path → how many. */
const arrivals = new Map<string, number>();

beforeAll(async () => {
  const settings = {
    'config-api': { MAX_WEBHOOKS_PER_TENANT: '100000' },
    'delivery-worker': { NODE_OPTIONS: `--import=${STALLING_READER}` },
  };
  // A query-api of a later file on the same Kafka would read all 40,000 events first: 85 s.
  test = await startTestStack(settings, { withOwnEngines: true });
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({
    certPem,
    keyPem,
    remember: 1,
    reply: ({ id, path }) => {
      arrived.add(`${id} ${path}`);
      arrivals.set(path, (arrivals.get(path) ?? 0) + 1);
      return 200;
    },
  });
}, 180_000);
afterAll(async () => {
  await endpoint.close();
  await test.stop();
}, 120_000);

const totalArrivals = (): number => [...arrivals.values()].reduce((sum, count) => sum + count, 0);

const waitUntil = (at: number): Promise<unknown> =>
  eventually(() => performance.now() >= at, { timeoutMs: 60_000, intervalMs: 1 });

async function append(tenantId: string, eventType: EventType): Promise<string> {
  const event = buildEvent({ tenantId, eventType });
  const { kafkaBrokers } = test.stack.description();
  await feedTopic(kafkaBrokers, [readFeedLine(JSON.stringify(event))], newReport());
  return event.id;
}

interface Registered {
  readonly ref: string;
  readonly path: string;
  readonly endpointUrl: string;
}

async function register({ tenantId, eventType }: Route): Promise<Registered> {
  const path = `/${randomUUID()}`;
  const endpointUrl = `${endpoint.origin}${path}`;
  const { ref } = await test.clientOf(tenantId).register({ eventType, endpointUrl });
  return { ref, path, endpointUrl };
}

/** Registers five webhooks, appends an event exactly one bound after the last answer, and takes the five away again. */
async function tryRoute(route: Route, whileWaiting: () => Promise<unknown>): Promise<number> {
  const { tenantId, eventType } = route;
  const webhooks = await Promise.all(Array.from({ length: TOGETHER }, () => register(route)));
  const answeredAt = performance.now();
  await waitUntil(answeredAt + BOUND_MS);
  const id = await append(tenantId, eventType);
  await whileWaiting();
  await eventually(
    () => {
      const missing = webhooks.filter(({ path }) => !arrived.has(`${id} ${path}`));
      if (missing.length > 0) throw new Error(`${missing.length} of ${TOGETHER} got nothing of ${id}`);
    },
    { ...LONG, message: 'waiting for an event appended after the bound' },
  );
  const client = test.clientOf(tenantId);
  for (const { ref, endpointUrl } of webhooks)
    await client.update({ ref, eventType, endpointUrl, enabled: false });
  const disabledAt = performance.now();
  await waitUntil(disabledAt + BOUND_MS);
  const late = await append(tenantId, eventType);
  forbidden.push(...webhooks.map(({ path }) => `${late} ${path}`));
  return webhooks.length;
}

/** Events of the load that may be under way: as fast as the worker can, and no faster. */
const LOAD_UNDER_WAY = 2_000;

/** Thousands of events to an endpoint of their own, until it is stopped. */
async function makeLoad(signal: AbortSignal): Promise<number> {
  const { endpointUrl, path } = await register({ tenantId: 'acme', eventType: 'PIX_STATIC' });
  expect(endpointUrl).toContain(path);
  const { kafkaBrokers } = test.stack.description();
  let sent = 0;
  while (!signal.aborted) {
    const lines = Array.from({ length: 400 }, () =>
      readFeedLine(JSON.stringify(buildEvent({ tenantId: 'acme', eventType: 'PIX_STATIC' }))),
    );
    await feedTopic(kafkaBrokers, lines, newReport());
    sent += lines.length;
    await eventually(() => (arrivals.get(path) ?? 0) >= sent - LOAD_UNDER_WAY, LONG);
  }
  return sent;
}

const nothing = (): Promise<unknown> => Promise.resolve();

it(`${TRIALS} registrations under load are in force for events appended 1 s after the response, and end 1 s after being disabled`, async () => {
  const stopping = new AbortController();
  const load = makeLoad(stopping.signal);
  let trials = 0;
  while (trials < TRIALS) {
    const tried = await Promise.all(ROUTES.map((route) => tryRoute(route, nothing)));
    trials += tried.reduce((sum, count) => sum + count, 0);
  }
  stopping.abort();
  process.stdout.write(`trials=${trials}, all in force; ${await load} events of load meanwhile\n`);
  expect(forbidden).toHaveLength(trials);
  expect(forbidden.filter((delivery) => arrived.has(delivery))).toEqual([]);
}, 900_000);

it(`a worker that was stopped for ${STOPPED_MS / 1_000} s and continues delivers by the new configuration`, async () => {
  const pid = test.stack.description().processes['delivery-worker'] ?? Number.NaN;
  const [route] = ROUTES as [Route];
  process.kill(pid, 'SIGSTOP');
  const stoppedAt = performance.now();
  const tried = tryRoute(route, async () => {
    await waitUntil(stoppedAt + STOPPED_MS);
    process.kill(pid, 'SIGCONT');
  });
  expect(await tried).toBe(TOGETHER);
  expect(test.stack.description().processes['delivery-worker']).toBe(pid);
}, 180_000);

async function ask(path: '/readyz' | '/metrics'): Promise<string> {
  const admin = test.stack.description().admin['delivery-worker'] ?? '';
  return (await fetch(`${admin}${path}`, { signal: AbortSignal.timeout(5_000) })).text();
}

it('a worker whose reader of configurations alone has stalled delivers nothing by an old configuration', async () => {
  const pid = test.stack.description().processes['delivery-worker'] ?? Number.NaN;
  const [route] = ROUTES as [Route];
  process.kill(pid, 'SIGUSR2');
  await eventually(async () => expect(await ask('/readyz')).toContain('stale'), LONG);
  // Attempts that began before may still arrive.
  await eventually(
    async () => expect(await ask('/metrics')).toMatch(/^webhook_attempts_in_flight 0$/m),
    LONG,
  );
  const stalledAt = performance.now();
  const before = totalArrivals();
  const tried = tryRoute(route, async () => {
    await waitUntil(stalledAt + STOPPED_MS);
    expect(totalArrivals()).toBe(before);
    process.kill(pid, 'SIGUSR2');
  });
  expect(await tried).toBe(TOGETHER);
}, 180_000);
