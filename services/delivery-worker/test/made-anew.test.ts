import { randomUUID } from 'node:crypto';
import { REFILL_KEY, TOPICS } from '@webhooks/contracts';
import type { Refill } from '@webhooks/contracts';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { WAIT, eventFor } from './rig.js';
import { openBench } from './start-worker.js';

/** A topic of webhooks that was made anew, an event that was accepted, and webhooks that are in force. */
async function makeAnew(paths: readonly string[]) {
  const bench = await openBench();
  const before = await bench.startWorker();
  await before.stop();
  await bench.publish(TOPICS.attempts, { key: '0', value: '{}' });
  const endpoint = await startEndpoint();
  const tenantId = randomName('tenant');
  const webhooks = paths.map((path) =>
    buildRecord({ tenantId, ref: randomUUID(), endpointUrl: `${endpoint.origin}${path}` }),
  );
  await bench.send(eventFor(buildRecord({ tenantId })));
  const faults: string[] = [];
  const start = () => bench.startWorker({}, (fault) => faults.push(fault));
  const told = () => eventually(() => expect(faults.join()).toContain('lacks webhooks'), WAIT);
  const stop = async (worker: { stop: () => Promise<void> }) => {
    await worker.stop();
    await endpoint.close();
    await bench.stop();
  };
  return { bench, endpoint, webhooks, start, told, stop };
}

it('a worker that finds no webhooks although deliveries were made discards no event: it waits for config-api', async () => {
  const { bench, endpoint, webhooks, start, told, stop } = await makeAnew(['/a']);
  const starting = start();
  await told();
  for (const webhook of webhooks) await bench.configure(webhook);
  const worker = await starting;
  await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
  await stop(worker);
});

it('one that starts while config-api fills the topic waits for the end of that', async () => {
  const { bench, endpoint, webhooks, start, told, stop } = await makeAnew(['/a', '/b']);
  const mark = (value: Refill) => bench.publish(TOPICS.configurations, { key: REFILL_KEY, value });
  const [first, ...others] = webhooks;
  await mark('begun');
  if (first) await bench.configure(first);
  const starting = start();
  await told();
  for (const webhook of others) await bench.configure(webhook);
  await mark('done');
  const worker = await starting;
  const paths = () => endpoint.arrivals.map(({ path }) => path).sort();
  await eventually(() => expect(paths()).toEqual(['/a', '/b']), WAIT);
  await stop(worker);
});
