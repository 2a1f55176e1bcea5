import { randomUUID } from 'node:crypto';
import { TOPICS, taskHeaders, tierFor } from '@webhooks/contracts';
import type { AttemptPack, ConfigurationRecord, PaymentEvent } from '@webhooks/contracts';
import { buildEvent, eventually, randomName, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { buildRecord, buildTask } from './builders.js';
import { openBench } from './start-worker.js';
import type { Bench, RunningWorker, SeenRecord } from './start-worker.js';

// Two retries, after 1 s each: the third attempt is the last.
const RETRY_DELAYS = '1s,1s';
const WAIT = { timeoutMs: 20_000 };

let bench: Bench;
let worker: RunningWorker;
let log: readonly SeenRecord[];

beforeAll(async () => {
  bench = await openBench();
  worker = await bench.startWorker({ RETRY_DELAYS });
  log = await bench.follow(TOPICS.attempts, TOPICS.deadLetters, TOPICS.rejected);
});
afterAll(async () => {
  await worker.stop();
  await bench.stop();
});

const entriesOf = (ref: string): AttemptPack['records'] =>
  log
    .filter(({ topic }) => topic === TOPICS.attempts)
    .flatMap(({ value }) => (JSON.parse(String(value)) as AttemptPack).records)
    .filter((entry) => entry.ref === ref);

const story = (ref: string): string[] =>
  entriesOf(ref).map((entry) =>
    entry.kind === 'attempt'
      ? `${entry.attempt} ${entry.status ?? entry.error ?? ''}`
      : `${entry.kind} ${'reason' in entry ? entry.reason : ''}`,
  );

const untilStory = (ref: string, expected: readonly string[]): Promise<void> =>
  eventually(() => expect(story(ref)).toEqual(expected), {
    ...WAIT,
    message: `waiting for ${expected.join(', ')}`,
  });

/** A tenant of its own with one configuration that is in force. */
async function register(
  endpoint: Endpoint,
  over: Partial<ConfigurationRecord> = {},
): Promise<ConfigurationRecord> {
  const configuration = buildRecord({
    tenantId: randomName('tenant'),
    ref: randomUUID(),
    endpointUrl: endpoint.url,
    ...over,
  });
  await bench.configure(configuration);
  await untilInForce(configuration.ref);
  return configuration;
}

/** The worker knows a configuration when a task for it, cancelled because of its application, is told of. */
async function untilInForce(ref: string): Promise<void> {
  const known = (text: string): number => Number(/^webhook_configurations (\d+)$/m.exec(text)?.[1] ?? 0);
  registered += 1;
  await eventually(async () => expect(known(await worker.metrics())).toBeGreaterThanOrEqual(registered), {
    ...WAIT,
    message: `waiting for ${ref}`,
  });
}
let registered = 0;

const eventFor = ({ tenantId }: ConfigurationRecord): PaymentEvent =>
  buildEvent({ tenantId, eventType: 'PIX_OUT' });

describe('a delivery', () => {
  it('that is refused is attempted again with the same bytes, then it is dead with its history', async () => {
    const endpoint = await startEndpoint({ answer: 500 });
    const configuration = await register(endpoint);
    const event = eventFor(configuration);
    await bench.send(event);
    await untilStory(configuration.ref, ['1 500', '2 500', '3 500', 'dead attempts-exhausted']);
    expect(endpoint.arrivals.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '2', '3']);
    expect(new Set(endpoint.arrivals.map(({ body }) => body.toString())).size).toBe(1);
    const waits = endpoint.arrivals
      .slice(1)
      .map(({ startedAt }, index) => startedAt - (endpoint.arrivals[index]?.receivedAt ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(999);
    const dead = await eventually(
      () =>
        log.find(({ topic, headers }) => topic === TOPICS.deadLetters && headers['event-id'] === event.id) ??
        false,
      WAIT,
    );
    expect(dead.headers).toMatchObject({
      'dead-reason': 'attempts-exhausted',
      attempt: '3',
      'http-status': '500',
      'tenant-id': event.tenantId,
    });
    expect(dead.value?.equals(endpoint.arrivals[0]?.body ?? Buffer.alloc(0))).toBe(true);
    await endpoint.close();
  });

  it('goes to the new URL when it changed meanwhile', async () => {
    const [old, next] = [await startEndpoint({ answer: 500 }), await startEndpoint()];
    const configuration = await register(old);
    await bench.send(eventFor(configuration));
    await eventually(() => expect(old.arrivals).toHaveLength(1), WAIT);
    await bench.configure({ ...configuration, revision: 2, endpointUrl: next.url });
    await untilStory(configuration.ref, ['1 500', '2 200']);
    expect([old.arrivals.length, next.arrivals.length]).toEqual([1, 1]);
    await old.close();
    await next.close();
  });

  it('is cancelled when its configuration was disabled meanwhile, and enabling brings nothing back', async () => {
    const endpoint = await startEndpoint({ answer: 500 });
    const configuration = await register(endpoint);
    await bench.send(eventFor(configuration));
    await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
    await bench.configure({ ...configuration, revision: 2, enabled: false });
    await untilStory(configuration.ref, ['1 500', 'cancelled disabled']);
    await bench.configure({ ...configuration, revision: 3, enabled: true });
    endpoint.answerWith(200);
    const later = eventFor(configuration);
    await eventually(
      async () => {
        await bench.send(later);
        if (!endpoint.arrivals.some(({ id }) => id === later.id)) throw new Error('not in force yet');
      },
      { ...WAIT, intervalMs: 200 },
    );
    expect(story(configuration.ref).filter((line) => line.startsWith('2'))).toEqual([]);
    await endpoint.close();
  });

  it('to an endpoint that is not there fails by class, never as ours', async () => {
    const endpoint = await startEndpoint();
    await endpoint.close();
    const configuration = await register(endpoint);
    await bench.send(eventFor(configuration));
    await untilStory(configuration.ref, ['1 CONNECT', '2 CONNECT', '3 CONNECT', 'dead attempts-exhausted']);
  });
});

describe('an event', () => {
  it('of 40 configurations travels through webhooks.deliveries and reaches each', async () => {
    const endpoint = await startEndpoint();
    const tenantId = randomName('tenant');
    for (let index = 0; index < 40; index += 1) {
      await bench.configure(
        buildRecord({ tenantId, ref: randomUUID(), endpointUrl: `${endpoint.origin}/hook-${index}` }),
      );
    }
    registered += 39;
    await untilInForce(tenantId);
    const deliveries = await bench.follow(TOPICS.deliveries);
    const event = buildEvent({ tenantId, eventType: 'PIX_OUT' });
    await bench.send(event);
    await eventually(() => expect(new Set(endpoint.arrivals.map(({ path }) => path)).size).toBe(40), WAIT);
    await eventually(
      () => expect(deliveries.filter(({ headers }) => headers['event-id'] === event.id)).toHaveLength(40),
      WAIT,
    );
    await endpoint.close();
  });

  it('that nobody wants is handled, and counted', async () => {
    await bench.send(buildEvent({ tenantId: randomName('nobody') }));
    await eventually(
      async () => expect(await worker.metrics()).toMatch(/webhook_events_total\{result="unmatched"\} [1-9]/),
      WAIT,
    );
  });
});

describe('a waiting record', () => {
  const waiting = (over: Parameters<typeof buildTask>[0]) =>
    buildTask({
      attempt: 2,
      dueAt: Date.now(),
      firstDueAt: Date.now(),
      deliveryId: randomName('d'),
      ...over,
    });
  const put = (task: ReturnType<typeof buildTask>) =>
    bench.publish(tierFor(1_000).topic, {
      key: task.deliveryId,
      value: task.body,
      headers: taskHeaders(task),
    });

  it('whose configuration is unknown is dead, not cancelled', async () => {
    const task = waiting({ ref: randomUUID(), tenantId: randomName('tenant') });
    await put(task);
    await untilStory(task.ref, ['dead configuration-unknown']);
  });

  it('that stands twice after a crash is attempted once', async () => {
    const endpoint = await startEndpoint();
    const { tenantId, ref } = await register(endpoint);
    const task = waiting({ tenantId, ref, eventId: randomName('evt') });
    await put(task);
    await put(task);
    const last = waiting({
      tenantId,
      ref,
      eventId: randomName('evt'),
      deliveryId: task.deliveryId,
      attempt: 3,
    });
    await put(last);
    await eventually(() => expect(endpoint.arrivals.map(({ id }) => id)).toContain(last.eventId), WAIT);
    expect(endpoint.arrivals.filter(({ id }) => id === task.eventId)).toHaveLength(1);
    await endpoint.close();
  });

  it('that is damaged is kept among the dead letters with its bytes', async () => {
    const task = waiting({ deliveryId: randomName('damaged'), body: Buffer.from('{"kept":true}') });
    await bench.publish(tierFor(1_000).topic, {
      key: task.deliveryId,
      value: task.body,
      headers: { ...taskHeaders(task), attempt: 'x' },
    });
    const dead = await eventually(
      () => log.find(({ headers }) => headers['delivery-id'] === task.deliveryId) ?? false,
      WAIT,
    );
    expect(dead.headers['dead-reason']).toBe('damaged-header:attempt');
    expect(String(dead.value)).toBe('{"kept":true}');
  });

  it('moves on through shorter tiers until it is due, and is never early', async () => {
    const endpoint = await startEndpoint();
    const { tenantId, ref } = await register(endpoint);
    const dueAt = Date.now() + 7_000;
    // On the shortest tier with 7 s to go: it has to move to the tier of 5 s, and to wait out the rest in memory.
    const task = waiting({ tenantId, ref, eventId: randomName('evt'), dueAt });
    await put(task);
    await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
    const late = (endpoint.arrivals[0]?.startedAt ?? 0) - dueAt;
    expect(late).toBeGreaterThanOrEqual(-1);
    await endpoint.close();
  });
});
