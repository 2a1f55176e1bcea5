import { randomUUID } from 'node:crypto';
import { TOPICS } from '@webhooks/contracts';
import { buildEvent, eventually, randomName, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { openBench } from './start-worker.js';
import type { Bench, RunningWorker } from './start-worker.js';

const RETENTION_MS = 3_000;
/** As in `deploy/prometheus/alerts.yaml`. */
const ALERT_ABOVE = 0.5;

let bench: Bench;
let worker: RunningWorker;
let endpoint: Endpoint;

beforeAll(async () => {
  endpoint = await startEndpoint({ reply: { kind: 'hang' } });
  bench = await openBench();
  await bench.createTopic(TOPICS.events, {
    'retention.ms': String(RETENTION_MS),
    'message.timestamp.type': 'LogAppendTime',
  });
  worker = await bench.startWorker();
}, 60_000);
afterAll(async () => {
  await endpoint.close();
  await worker.stop();
  await bench.stop();
}, 60_000);

async function used(source: string): Promise<number | undefined> {
  const pattern = new RegExp(String.raw`^webhook_retention_used_ratio\{source="${source}"\} (\S+)$`, 'm');
  const found = pattern.exec(await worker.metrics());
  return found ? Number(found[1]) : undefined;
}

it('an alert fires before a loss, when an event waits for longer than half of its retention', async () => {
  await eventually(async () => (await used('events')) === 0);
  expect(await used('deliveries')).toBe(0);
  expect(await used('retries')).toBe(0);
  const tenantId = randomName('tenant');
  const configuration = buildRecord({ tenantId, ref: randomUUID(), endpointUrl: endpoint.url });
  await bench.configure(configuration);
  await eventually(async () => expect(await worker.metrics()).toMatch(/^webhook_configurations 1$/m));
  await bench.send(buildEvent({ tenantId, eventType: 'PIX_OUT' }));
  const fires = async (): Promise<boolean> => ((await used('events')) ?? 0) > ALERT_ABOVE;
  expect(await fires()).toBe(false);
  await eventually(fires, { timeoutMs: 10_000, message: 'waiting for the alert' });
  expect(await used('events')).toBeLessThan(1);
  expect(await used('deliveries')).toBe(0);
}, 30_000);
