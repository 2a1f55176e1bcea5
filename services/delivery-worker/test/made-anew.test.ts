import { randomUUID } from 'node:crypto';
import { TOPICS } from '@webhooks/contracts';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { WAIT, eventFor } from './rig.js';
import { openBench } from './start-worker.js';

it('a worker that finds no webhooks although deliveries were made discards no event: it waits for config-api', async () => {
  const bench = await openBench();
  const before = await bench.startWorker();
  await before.stop();
  await bench.publish(TOPICS.attempts, { key: '0', value: '{}' });
  const endpoint = await startEndpoint();
  const webhook = buildRecord({
    ...{ tenantId: randomName('tenant'), ref: randomUUID(), endpointUrl: endpoint.url },
  });
  const event = eventFor(webhook);
  await bench.send(event);
  const faults: string[] = [];
  const starting = bench.startWorker({}, (fault) => faults.push(fault));
  await eventually(() => expect(faults.join()).toContain('is empty although deliveries were made'), WAIT);
  await bench.configure(webhook);
  const worker = await starting;
  await eventually(() => expect(endpoint.arrivals.map(({ id }) => id)).toEqual([event.id]), WAIT);
  await worker.stop();
  await endpoint.close();
  await bench.stop();
});
