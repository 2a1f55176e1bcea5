import { randomUUID } from 'node:crypto';
import { COMPLETE_KEY, TOPICS, configurationKey } from '@webhooks/contracts';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { WAIT, eventFor } from './rig.js';
import { openBench } from './start-worker.js';

it('a worker that starts while the topic lacks webhooks waits for all and discards no event, even in a new Kafka', async () => {
  const bench = await openBench(false);
  await bench.createTopic(TOPICS.events, {});
  const endpoint = await startEndpoint();
  const tenantId = randomName('tenant');
  const fill = async (path: string): Promise<void> => {
    const webhook = buildRecord({ tenantId, ref: randomUUID(), endpointUrl: `${endpoint.origin}${path}` });
    const key = configurationKey(tenantId, webhook.ref);
    await bench.publish(TOPICS.configurations, { key, value: JSON.stringify(webhook) });
  };
  await bench.send(eventFor(buildRecord({ tenantId })));
  await fill('/a');
  // It was on its way while the topic of before was deleted.
  await bench.publish(TOPICS.configurations, { key: COMPLETE_KEY, value: '[20]' });
  const warnings: string[] = [];
  const starting = bench.startWorker({}, (warning) => warnings.push(warning));
  await eventually(() => expect(warnings.join()).toContain('lacks webhooks'), WAIT);
  await fill('/b');
  await bench.publish(TOPICS.configurations, { key: COMPLETE_KEY, value: '[0]' });
  const worker = await starting;
  const paths = () => endpoint.arrivals.map(({ path }) => path).sort();
  await eventually(() => expect(paths()).toEqual(['/a', '/b']), WAIT);
  await worker.stop();
  await endpoint.close();
  await bench.stop();
});
