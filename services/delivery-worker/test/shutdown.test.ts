import { setInterval } from 'node:timers/promises';
import { TOPICS } from '@webhooks/contracts';
import type { AttemptPack, EventType } from '@webhooks/contracts';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { openBench } from './start-worker.js';
import type { Bench, SeenRecord } from './start-worker.js';

const EVENTS = 2_000;

/** A busy machine may let an attempt fail: its retry comes within the time of the test. */
const SOON = { RETRY_DELAYS: Array.from({ length: 20 }, () => '1s').join(',') };

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.stop());

it('rolling restarts under load lose nothing and repeat nothing', async () => {
  const endpoint = await startEndpoint({
    reply: { kind: 'status', status: 200, delayMs: 20 },
    remember: EVENTS + 100,
  });
  let worker = await bench.startWorker(SOON);
  await bench.configure(buildRecord({ endpointUrl: endpoint.url }));
  await eventually(async () => expect(await worker.metrics()).toMatch(/^webhook_configurations 1$/m), {
    timeoutMs: 20_000,
  });
  const events = Array.from({ length: EVENTS }, () => buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' }));
  const feeding = (async () => {
    for (const event of events)
      await bench.publish(TOPICS.events, { key: event.data.endToEndId, value: JSON.stringify(event) });
  })();
  for (const share of [0.2, 0.4, 0.6]) {
    await eventually(() => expect(endpoint.stats().arrivals).toBeGreaterThan(EVENTS * share), {
      timeoutMs: 60_000,
    });
    // The next one joins before this one leaves, as in a rolling update.
    const next = await bench.startWorker(SOON);
    await worker.stop();
    worker = next;
  }
  await feeding;
  const seen = await bench.follow(TOPICS.attempts);
  const missing = (): string | undefined => {
    const arrived = new Set(endpoint.arrivals.map(({ id }) => id));
    return events.find(({ id }) => !arrived.has(id))?.id;
  };
  await eventually(() => expect(timelineOf(missing(), seen)).toEqual([]), { timeoutMs: 60_000 });
  expect(endpoint.stats().arrivals).toBe(EVENTS);
  await worker.stop();
  await endpoint.close();
}, 180_000);

/** What the workers told of an event that is missing; empty when none is. */
function timelineOf(missing: string | undefined, seen: readonly SeenRecord[]): readonly unknown[] {
  if (missing === undefined) return [];
  const told = seen.flatMap(({ value }) => (JSON.parse(String(value)) as AttemptPack).records);
  return [missing, ...told.filter(({ eventId }) => eventId === missing)];
}

/**
 * Measured: 0.7 to 1.7 s, the time of a rebalance, and 3.6 s beside other tests. What it must not be is the time of the slow
 * attempts, which may take longer than attempts do without a policy.
 */
const MAX_WAIT_MS = 5_000;
const MAX_DRAIN_MS = 20_000;
const SLOW_MS = 12_000;
const policy = { timeoutMs: 30_000 };
const FAST_REF = '019394a2-0000-7000-8000-0000000000fa';
const SLOW_REF = '019394a2-0000-7000-8000-000000000510';

it('a worker that stops during a slow attempt delays no other delivery, and repeats nothing', async () => {
  const arrivedAt = new Map<string, number>();
  const fast = await startEndpoint({
    reply: ({ id }) => {
      arrivedAt.set(id, performance.now());
      return 200;
    },
    remember: 1,
  });
  const slow = await startEndpoint({
    reply: { kind: 'status', status: 200, delayMs: SLOW_MS },
    remember: 1,
  });
  const workers = [await bench.startWorker(SOON), await bench.startWorker(SOON)] as const;
  await bench.configure(buildRecord({ ref: FAST_REF, endpointUrl: fast.url, eventType: 'PIX_STATIC' }));
  await bench.configure(
    buildRecord({ ref: SLOW_REF, endpointUrl: slow.url, eventType: 'PIX_REVERSAL', policy }),
  );
  const feeding = feedUntilStopped('PIX_STATIC');
  await eventually(() => expect(fast.stats().arrivals).toBeGreaterThan(500), { timeoutMs: 60_000 });
  const send = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () =>
        bench.send(buildEvent({ tenantId: 'acme', eventType: 'PIX_REVERSAL' })),
      ),
    );
  await send(20);
  await eventually(() => expect(slow.stats().arrivals).toBe(20), { timeoutMs: 20_000 });
  const stopAt = performance.now();
  const stopping = workers[0].stop().then(() => performance.now() - stopAt);
  await send(20);
  const drainMs = await stopping;
  await eventually(() => expect(slow.stats().distinctIds).toBe(40), { timeoutMs: 60_000 });
  const sentAt = await feeding.stop();
  await eventually(() => expect(arrivedAt.size).toBe(sentAt.size), { timeoutMs: 60_000 });
  const waits = [...sentAt].map(([id, at]) => (arrivedAt.get(id) ?? Infinity) - at);
  const longestMs = Math.max(...waits);
  process.stdout.write(
    `left after ${Math.round(drainMs)} ms behind attempts of ${SLOW_MS} ms; ${waits.length} events for others meanwhile, the slowest took ${Math.round(longestMs)} ms\n`,
  );
  expect(drainMs).toBeLessThan(MAX_DRAIN_MS);
  expect(longestMs).toBeLessThan(MAX_WAIT_MS);
  expect(fast.stats().arrivals).toBe(sentAt.size);
  expect(slow.stats().arrivals).toBe(40);
  await workers[1].stop();
  await fast.close();
  await slow.close();
}, 180_000);

/** An event each 5 ms at most, when the one before is acknowledged; `stop` gives when each was. */
function feedUntilStopped(eventType: EventType): {
  readonly stop: () => Promise<ReadonlyMap<string, number>>;
} {
  const stopped = new AbortController();
  const feeding = (async () => {
    const sentAt = new Map<string, number>();
    for await (const { aborted } of setInterval(5, stopped.signal)) {
      if (aborted) break;
      const event = buildEvent({ tenantId: 'acme', eventType });
      await bench.send(event);
      sentAt.set(event.id, performance.now());
    }
    return sentAt;
  })();
  return {
    stop: () => {
      stopped.abort();
      return feeding;
    },
  };
}
