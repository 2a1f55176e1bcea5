import { TOPICS, taskHeaders } from '@webhooks/contracts';
import type { ConfigurationRecord, PaymentEvent } from '@webhooks/contracts';
import { eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint, EndpointOptions } from '@webhooks/testkit';
import { buildTask } from './builders.js';
import { eventFor, openRig } from './rig.js';
import type { Rig } from './rig.js';

const LONG = { timeoutMs: 60_000 };
const EVENTS = 150;
/** The policy of endpoints that hang: healthy ones have everything before these attempts time out. */
const HANGS = { timeoutMs: 30_000 };

let rig: Rig;
const endpoints: Endpoint[] = [];

beforeAll(async () => {
  rig = await openRig({
    // Fewer records in flight than events for any one of the endpoints that hang. As by default, as many as attempts;
    // large fan-outs have 4 turns, by default 32.
    MAX_IN_FLIGHT: '128',
    MAX_ATTEMPTS_IN_FLIGHT: '128',
    ENDPOINT_CONCURRENCY: '8',
    BREAKER_FIRST_PAUSE: '2s',
    RETRY_DELAYS: Array.from({ length: 30 }, () => '1s').join(','),
  });
});
afterAll(async () => {
  for (const endpoint of endpoints) await endpoint.close();
  await rig.stop();
});

async function register(
  reply: EndpointOptions['reply'],
  policy: ConfigurationRecord['policy'] = {},
): Promise<{ readonly endpoint: Endpoint; readonly configuration: ConfigurationRecord }> {
  const endpoint = await startEndpoint(reply === undefined ? {} : { reply });
  endpoints.push(endpoint);
  return { endpoint, configuration: await rig.register(endpoint, { policy }) };
}

async function send(configuration: ConfigurationRecord, count: number): Promise<readonly PaymentEvent[]> {
  const events = Array.from({ length: count }, () => eventFor(configuration));
  // At once, so that the 30 s of `HANGS` suffice.
  await rig.bench.sendAll(events);
  return events;
}

const countOf = (ref: string, sentence: string): number =>
  rig.story(ref).filter((line) => line === sentence).length;

const metric = async (line: RegExp): Promise<number> =>
  Number(line.exec(await rig.worker.metrics())?.[1] ?? 0);

/** Resolves with a wait until so many more deliveries were deferred because a breaker is open. */
async function untilDeferred(count: number): Promise<() => Promise<void>> {
  const deferred = () => metric(/^webhook_settlements_total\{kind="deferred",reason="breaker"\} (\d+)$/m);
  const before = await deferred();
  return () =>
    eventually(async () => expect((await deferred()) - before).toBeGreaterThanOrEqual(count), LONG);
}

describe('an endpoint that hangs', () => {
  it('delays no healthy one: all events arrive there before the first attempt at the others has timed out', async () => {
    const hanging = [
      await register({ kind: 'hang' }, HANGS),
      await register({ kind: 'hang' }, HANGS),
      await register({ kind: 'hang' }, HANGS),
    ];
    const healthy = await register(200);
    for (const { configuration } of hanging) await send(configuration, EVENTS);
    await send(healthy.configuration, EVENTS);
    await eventually(() => expect(healthy.endpoint.stats().distinctIds).toBe(EVENTS), LONG);
    for (const { configuration } of hanging) expect(rig.story(configuration.ref)).not.toContain('1 TIMEOUT');
    for (const { endpoint } of hanging) endpoint.replyWith(200);
    // What was deferred meanwhile is due up to 30 s after the attempts of 30 s.
    for (const { endpoint } of hanging)
      await eventually(() => expect(endpoint.stats().distinctIds).toBe(EVENTS), { timeoutMs: 120_000 });
  }, 180_000);
});

describe('an endpoint that is down', () => {
  it('gets one probe at a time while its deliveries are deferred, and all of them when it responds again', async () => {
    const { endpoint, configuration } = await register(500);
    const deferred = await untilDeferred(EVENTS - 20);
    await send(configuration, EVENTS);
    await deferred();
    // Ten to open the breaker and what was under way by then; after that only probes.
    expect(endpoint.stats().arrivals).toBeLessThanOrEqual(10 + 8 + 2);
    // The log has each delivery that waits once, and the beginning of each pause; one is 2 s or longer here.
    expect(countOf(configuration.ref, 'deferred')).toBeGreaterThan(0);
    expect(countOf(configuration.ref, 'deferred')).toBeLessThan(EVENTS + EVENTS / 10);
    expect(await metric(/^webhook_endpoints\{breaker="(?:open|probing)"\} ([1-9]\d*)$/m)).toBeGreaterThan(0);
    expect(rig.worker.page('/endpoints')).toMatchObject({
      unhealthy: [
        {
          tenantId: configuration.tenantId,
          ref: configuration.ref,
          lastFailure: '500',
          failingSince: expect.stringMatching(/^\d{4}-/) as string,
        },
      ],
    });
    endpoint.replyWith(200);
    await eventually(
      () => {
        const delivered = rig.story(configuration.ref).filter((line) => line.endsWith(' 200'));
        expect(delivered).toHaveLength(EVENTS);
      },
      { ...LONG, message: 'waiting for the backlog' },
    );
    expect(rig.worker.page('/endpoints')).toMatchObject({ breakersOpen: 0, unhealthy: [] });
  }, 180_000);

  it('is probed at its new URL as soon as that is known', async () => {
    const { endpoint, configuration } = await register(500);
    const deferred = await untilDeferred(20);
    const events = await send(configuration, 40);
    await deferred();
    const moved = await startEndpoint();
    endpoints.push(moved);
    await rig.bench.configure({ ...configuration, revision: 2, endpointUrl: moved.url });
    await eventually(() => expect(moved.stats().distinctIds).toBe(events.length), LONG);
    expect(endpoint.stats().arrivals).toBeLessThanOrEqual(20);
  }, 120_000);

  it('gets nothing once it is disabled: deferred deliveries are cancelled when they are due', async () => {
    const { endpoint, configuration } = await register(500);
    const deferred = await untilDeferred(20);
    await send(configuration, 40);
    await deferred();
    await rig.bench.configure({ ...configuration, revision: 2, enabled: false });
    await eventually(() => expect(countOf(configuration.ref, 'cancelled disabled')).toBe(40), LONG);
    expect(endpoint.stats().distinctIds).toBeLessThanOrEqual(20);
  }, 120_000);
});

describe('a tenant with 80 webhooks that hang', () => {
  it('delays neither events nor redeliveries of another one', async () => {
    const healthy = await register(200);
    const { endpoint, configuration } = await register({ kind: 'hang' }, HANGS);
    const { tenantId: crowd } = configuration;
    for (let index = 1; index < 80; index += 1)
      await rig.register({ url: `${endpoint.origin}/${index}` }, { tenantId: crowd, policy: HANGS });
    await send(configuration, EVENTS);
    await eventually(() => expect(endpoint.arrivals.length).toBeGreaterThan(0), LONG);
    await send(healthy.configuration, EVENTS);
    const { tenantId, ref } = healthy.configuration;
    const task = buildTask({ tenantId, ref, cycle: 'r0193510a-7c1e-7b1a-9f54-2d6c8a1b0e4f' });
    const record = { key: task.deliveryId, value: task.body, headers: taskHeaders(task) };
    await rig.bench.publish(TOPICS.deliveries, record);
    await eventually(() => expect(healthy.endpoint.stats().distinctIds).toBe(EVENTS + 1), LONG);
    expect(rig.story(configuration.ref)).not.toContain('1 TIMEOUT');
  }, 180_000);
});

describe('a webhook that takes 9 s for each response', () => {
  it('holds the turns of the other 16 of its tenant and type for 2 s each, no longer', async () => {
    const slow = await register({ kind: 'status', status: 200, delayMs: 9_000 });
    const healthy = await startEndpoint();
    endpoints.push(healthy);
    const { tenantId } = slow.configuration;
    for (let index = 0; index < 16; index += 1)
      await rig.register({ url: `${healthy.origin}/${index}` }, { tenantId });
    await send(slow.configuration, 40);
    // With four turns, each as long as its slowest delivery, it would take 90 s.
    await eventually(() => expect(healthy.stats().arrivals).toBeGreaterThanOrEqual(16 * 40), {
      timeoutMs: 45_000,
    });
  }, 120_000);
});

describe('a tenant whose 20 webhooks take 5 s for each response', () => {
  it('delays no large fan-outs of another one, however many of its own wait', async () => {
    const healthy = await register(200);
    const { endpoint, configuration } = await register({ kind: 'status', status: 200, delayMs: 5_000 });
    for (const [{ tenantId }, { origin }] of [
      [healthy.configuration, healthy.endpoint],
      [configuration, endpoint],
    ] as const)
      for (let index = 1; index < 20; index += 1)
        await rig.register({ url: `${origin}/${index}` }, { tenantId });
    // More than the 160 of one tenant that may wait.
    await send(configuration, 700);
    await eventually(() => expect(endpoint.arrivals.length).toBeGreaterThan(0), LONG);
    await send(healthy.configuration, 10);
    await eventually(() => expect(healthy.endpoint.stats().arrivals).toBeGreaterThanOrEqual(200), {
      timeoutMs: 120_000,
    });
  }, 240_000);
});
