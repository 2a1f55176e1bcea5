import { randomUUID } from 'node:crypto';
import { TOPIC_TABLE } from '@webhooks/contracts';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { WAIT, eventFor } from './rig.js';
import { openBench } from './start-worker.js';

const MISSING = 'webhooks.retries.5s';

it('a missing tier is reported, stops no other, and is replaced by the next smaller one', async () => {
  const bench = await openBench();
  for (const { name, configs } of TOPIC_TABLE) if (name !== MISSING) await bench.createTopic(name, configs);
  const worker = await bench.startWorker({ TOPICS_CREATE: 'false', RETRY_DELAYS: '6s' });
  const endpoint = await startEndpoint({ reply: 500 });
  const webhook = buildRecord({
    ...{ tenantId: randomName('tenant'), ref: randomUUID(), endpointUrl: endpoint.url },
  });
  await bench.configure(webhook);
  await eventually(async () => expect(await worker.metrics()).toContain('webhook_configurations 1'), WAIT);
  await bench.send(eventFor(webhook));
  await eventually(() => expect(endpoint.arrivals).toHaveLength(2), WAIT);
  await eventually(
    () => expect(worker.ready().faults).toMatchObject({ topics: `missing: ${MISSING}` }),
    WAIT,
  );
  expect(await worker.metrics()).toContain(`webhook_topic_missing{topic="${MISSING}"} 1`);
  await worker.stop();
  await endpoint.close();
  await bench.stop();
});
