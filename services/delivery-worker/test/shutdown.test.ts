import { TOPICS } from '@webhooks/contracts';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { openBench } from './start-worker.js';
import type { Bench } from './start-worker.js';

const EVENTS = 2_000;

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.stop());

it('rolling restarts under load lose nothing and repeat nothing', async () => {
  const endpoint = await startEndpoint({
    answer: { kind: 'status', status: 200, delayMs: 20 },
    remember: EVENTS + 100,
  });
  let worker = await bench.startWorker();
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
    const next = await bench.startWorker();
    await worker.stop();
    worker = next;
  }
  await feeding;
  await eventually(() => expect(endpoint.stats().distinctIds).toBe(EVENTS), {
    timeoutMs: 60_000,
    message: 'waiting for all events',
  });
  expect(endpoint.stats().arrivals).toBe(EVENTS);
  await worker.stop();
  await endpoint.close();
}, 180_000);
