import { randomBytes, randomUUID } from 'node:crypto';
import { TOPICS, configurationKey, parseKeyring, sealSecret } from '@webhooks/contracts';
import { generateSecret } from '@webhooks/outbound';
import { buildEvent, eventually, randomName, startEndpoint } from '@webhooks/testkit';
import { WAIT, eventFor, openRig } from './rig.js';
import type { Rig } from './rig.js';

let rig: Rig;

beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.stop());

describe('a delivery', () => {
  it('that is refused is attempted again with the same bytes, then it is dead with its history', async () => {
    const endpoint = await startEndpoint({ reply: 500 });
    const configuration = await rig.register(endpoint);
    const event = eventFor(configuration);
    await rig.bench.send(event);
    await rig.untilTimeline(configuration.ref, ['1 500', '2 500', '3 500', 'dead attempts-exhausted']);
    expect(endpoint.arrivals.map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '2', '3']);
    expect(new Set(endpoint.arrivals.map(({ body }) => body.toString())).size).toBe(1);
    const waits = endpoint.arrivals
      .slice(1)
      .map(({ startedAt }, index) => startedAt - (endpoint.arrivals[index]?.receivedAt ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(999);
    const dead = await eventually(
      () =>
        rig.log.find(
          ({ topic, headers }) => topic === TOPICS.deadLetters && headers['event-id'] === event.id,
        ) ?? false,
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
    const [old, next] = [await startEndpoint({ reply: 500 }), await startEndpoint()];
    const configuration = await rig.register(old);
    await rig.bench.send(eventFor(configuration));
    await eventually(() => expect(old.arrivals).toHaveLength(1), WAIT);
    await rig.bench.configure({ ...configuration, revision: 2, endpointUrl: next.url });
    await rig.untilTimeline(configuration.ref, ['1 500', '2 200']);
    expect([old.arrivals.length, next.arrivals.length]).toEqual([1, 1]);
    await old.close();
    await next.close();
  });

  it('is cancelled when its configuration was disabled meanwhile, and stays cancelled after enabling', async () => {
    const endpoint = await startEndpoint({ reply: 500 });
    const configuration = await rig.register(endpoint);
    await rig.bench.send(eventFor(configuration));
    await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
    await rig.bench.configure({ ...configuration, revision: 2, enabled: false });
    await rig.untilTimeline(configuration.ref, ['1 500', 'cancelled disabled']);
    await rig.bench.configure({ ...configuration, revision: 3, enabled: true });
    endpoint.replyWith(200);
    const later = eventFor(configuration);
    await eventually(
      async () => {
        await rig.bench.send(later);
        if (!endpoint.arrivals.some(({ id }) => id === later.id)) throw new Error('not in force yet');
      },
      { ...WAIT, intervalMs: 200 },
    );
    expect(rig.story(configuration.ref).filter((line) => line.startsWith('2'))).toEqual([]);
    await endpoint.close();
  });

  it('to an endpoint that does not exist fails with a class of error, never as our own fault', async () => {
    const endpoint = await startEndpoint();
    await endpoint.close();
    const configuration = await rig.register(endpoint);
    await rig.bench.send(eventFor(configuration));
    await rig.untilTimeline(configuration.ref, [
      '1 CONNECT',
      '2 CONNECT',
      '3 CONNECT',
      'dead attempts-exhausted',
    ]);
  });
});

describe('our own fault', () => {
  it('defers the one delivery, without an attempt, and its neighbour gets the event once', async () => {
    const endpoint = await startEndpoint();
    const healthy = await rig.register(endpoint);
    const strange = parseKeyring(`gone:${randomBytes(32).toString('base64')}`);
    const ref = randomUUID();
    const sealed = sealSecret(strange, generateSecret(), configurationKey(healthy.tenantId, ref));
    await rig.register(endpoint, { tenantId: healthy.tenantId, ref, secrets: [{ sealed }] });
    await rig.bench.send(eventFor(healthy));
    await rig.untilTimeline(ref, ['deferred fault']);
    await rig.untilTimeline(healthy.ref, ['1 200']);
    // The next event of the same partition is handled: nothing is stuck.
    await rig.bench.send(eventFor(healthy));
    await rig.untilTimeline(healthy.ref, ['1 200', '1 200']);
    expect(endpoint.arrivals).toHaveLength(2);
    await endpoint.close();
  });
});

describe('an event', () => {
  it('that is unreadable and has too long a key is rejected, and the next one is handled', async () => {
    const endpoint = await startEndpoint();
    const configuration = await rig.register(endpoint);
    await rig.bench.publish(TOPICS.events, { key: 'k'.repeat(900_000), value: 'no event', partition: 2 });
    const event = eventFor(configuration);
    await rig.bench.publish(TOPICS.events, { key: 'k', value: JSON.stringify(event), partition: 2 });
    await eventually(() => expect(endpoint.arrivals.map(({ id }) => id)).toEqual([event.id]), WAIT);
    await eventually(() => rig.log.some(({ headers }) => headers['reject-reason'] === 'not-json'), WAIT);
    await endpoint.close();
  });

  it('of 40 configurations travels through webhooks.fan-outs in two slices, by ref, and reaches each once', async () => {
    const endpoint = await startEndpoint();
    const tenantId = randomName('tenant');
    const refs: string[] = [];
    for (let index = 0; index < 40; index += 1)
      refs.push((await rig.register({ url: `${endpoint.origin}/hook-${index}` }, { tenantId })).ref);
    const fanOuts = await rig.bench.follow(TOPICS.fanOuts);
    const event = buildEvent({ tenantId, eventType: 'PIX_OUT' });
    await rig.bench.send(event);
    for (const ref of refs) await rig.untilTimeline(ref, ['1 200']);
    const afterRefs = fanOuts.map(({ headers }) => headers['after-ref']);
    expect(afterRefs).toEqual([undefined, refs.sort()[31]]);
    await endpoint.close();
  });

  it.each([
    [
      'that no webhook matches',
      'unmatched',
      async () => (await rig.register({ url: 'https://localhost:1/' })).tenantId,
    ],
    ['of a tenant without any webhook', 'unconfigured', () => Promise.resolve(randomName('nobody'))],
  ])('%s is handled, and counted', async (_name, result, tenant) => {
    await rig.bench.send(buildEvent({ tenantId: await tenant(), eventType: 'PIX_STATIC' }));
    await eventually(
      async () =>
        expect(await rig.worker.metrics()).toMatch(
          new RegExp(String.raw`webhook_events_total\{result="${result}"\} [1-9]`),
        ),
      WAIT,
    );
  });
});

it('a worker without a client certificate has no metric of it, so no alert fires', async () => {
  expect(await rig.worker.metrics()).not.toContain('client_certificate');
});
