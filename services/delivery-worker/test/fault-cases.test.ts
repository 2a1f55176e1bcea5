import { randomUUID } from 'node:crypto';
import { TOPICS } from '@webhooks/contracts';
import type { ConfigurationRecord, PaymentEvent } from '@webhooks/contracts';
import { buildEvent, eventually, randomName, startEndpoint } from '@webhooks/testkit';
import type { Reply, Endpoint } from '@webhooks/testkit';
import { WAIT, eventFor, openRig } from './rig.js';
import type { Rig } from './rig.js';
import type { SeenRecord } from './start-worker.js';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({
    RETRY_DELAYS: Array.from({ length: 12 }, () => '100ms').join(','),
    BREAKER_FAILURES: '1000',
  });
});
afterAll(() => rig.stop());

const untilArrivals = (endpoint: Endpoint, count: number): Promise<void> =>
  eventually(() => expect(endpoint.arrivals.length).toBeGreaterThanOrEqual(count), WAIT);

const bodiesOf = ({ arrivals }: Endpoint): string[] => arrivals.map(({ body }) => body.toString());

/** Appends to one partition, so that one comes behind the other. */
const append = (event: PaymentEvent, value = JSON.stringify(event)): Promise<void> =>
  rig.bench.publish(TOPICS.events, { key: event.data.endToEndId, value, partition: 3 });

describe('an event on the topic', () => {
  it('that was produced twice is delivered twice, with the same id and bytes', async () => {
    const endpoint = await startEndpoint();
    const event = eventFor(await rig.register(endpoint));
    await rig.bench.sendAll([event, event]);
    await untilArrivals(endpoint, 2);
    expect(endpoint.arrivals.map(({ id }) => id)).toEqual([event.id, event.id]);
    expect(new Set(bodiesOf(endpoint)).size).toBe(1);
    await endpoint.close();
  });

  it('whose id another one has too is delivered as it is, and so is the other', async () => {
    const endpoint = await startEndpoint();
    const event = eventFor(await rig.register(endpoint));
    const other = { ...event, data: { ...event.data, amount: '0.01' } } as PaymentEvent;
    await rig.bench.sendAll([event, other]);
    await untilArrivals(endpoint, 2);
    expect(endpoint.arrivals.map(({ id }) => id)).toEqual([event.id, event.id]);
    expect(bodiesOf(endpoint).map(amountOf).sort()).toEqual(['0.01', event.data.amount].sort());
    await endpoint.close();
  });

  it('that reverses a payment is delivered before the payment when it comes before it', async () => {
    const endpoint = await startEndpoint();
    const tenantId = randomName('tenant');
    for (const eventType of ['PIX_STATIC', 'PIX_REVERSAL'] as const)
      await rig.register(endpoint, { tenantId, eventType, ref: randomUUID() });
    const payment = buildEvent({ tenantId, eventType: 'PIX_STATIC' });
    const reversal = buildEvent({ tenantId, eventType: 'PIX_REVERSAL' });
    const { endToEndId } = payment.data;
    await append({ ...reversal, data: { ...reversal.data, endToEndId } } as PaymentEvent);
    await untilArrivals(endpoint, 1);
    await append(payment);
    await untilArrivals(endpoint, 2);
    expect(endpoint.arrivals.map(({ id }) => id)).toEqual([reversal.id, payment.id]);
    await endpoint.close();
  });

  it('that our own code always fails at is quarantined with its bytes, and its neighbours are delivered', async () => {
    const endpoint = await startEndpoint();
    const configuration = await rig.register(endpoint);
    const [before, poison, after] = [
      eventFor(configuration),
      eventFor(configuration),
      eventFor(configuration),
    ];
    const healCode = breakCodeAt(poison.id);
    let rejected: SeenRecord;
    try {
      for (const event of [before, poison, after]) await append(event);
      rejected = await eventually(
        () => rig.log.find(({ headers }) => headers['reject-reason'] === 'not-handled') ?? false,
        WAIT,
      );
    } finally {
      healCode();
    }
    expect(rejected.headers['reject-detail']).toBe('TypeError');
    expect(rejected.value?.toString()).toBe(JSON.stringify(poison));
    await untilArrivals(endpoint, 2);
    expect(endpoint.arrivals.map(({ id }) => id).sort()).toEqual([before.id, after.id].sort());
    await eventually(
      async () =>
        expect(await rig.worker.metrics()).toMatch(/^webhook_source_lag_records\{source="events"\} 0$/m),
      WAIT,
    );
    await endpoint.close();
  });
});

const amountOf = (body: string): unknown => (JSON.parse(body) as { data: { amount: string } }).data.amount;

/** From now on whatever looks into this event meets a fault. Returns how to end that. */
function breakCodeAt(id: string): () => void {
  const { parse } = JSON;
  JSON.parse = (text: string, reviver?: Parameters<typeof parse>[1]): unknown => {
    const value: unknown = parse(text, reviver);
    if (typeof value !== 'object' || value === null || !('id' in value) || value.id !== id) return value;
    return Object.defineProperty(value, 'data', {
      get: () => {
        throw new TypeError('a bug of ours');
      },
    });
  };
  return () => {
    JSON.parse = parse;
  };
}

/** Sends some, to an endpoint that answers like this, and waits until each was answered 200. */
async function sendUntilDelivered(
  count: number,
  reply: (nth: number) => number | Reply,
): Promise<{ readonly endpoint: Endpoint; readonly configuration: ConfigurationRecord }> {
  const endpoint = await startEndpoint({ reply: ({ nth }) => reply(nth) });
  const configuration = await rig.register(endpoint);
  await rig.bench.sendAll(Array.from({ length: count }, () => eventFor(configuration)));
  const delivered = () => rig.story(configuration.ref).filter((line) => line.endsWith(' 200'));
  await eventually(() => expect(delivered()).toHaveLength(count), WAIT);
  return { endpoint, configuration };
}

describe('a receiver', () => {
  it('that responds with 500 every other time gets each event until it has responded with 200', async () => {
    const events = 50;
    const { endpoint } = await sendUntilDelivered(events, (nth) => (nth % 2 === 1 ? 500 : 200));
    expect(endpoint.stats()).toMatchObject({ arrivals: 2 * events, distinctIds: events });
    await endpoint.close();
  });

  it('whose connection is cut between request and response gets the same id and bytes again', async () => {
    const cut: Reply = { kind: 'cut', stage: 'before-response' };
    const { endpoint, configuration } = await sendUntilDelivered(1, (nth) => (nth < 3 ? cut : 200));
    expect(rig.story(configuration.ref)).toEqual(['1 SOCKET', '2 SOCKET', '3 200']);
    expect(endpoint.stats()).toMatchObject({ arrivals: 3, distinctIds: 1 });
    expect(new Set(bodiesOf(endpoint)).size).toBe(1);
    await endpoint.close();
  });
});
