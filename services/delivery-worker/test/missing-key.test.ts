import { randomBytes, randomUUID } from 'node:crypto';
import { configurationKey, sealSecret } from '@webhooks/contracts';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { WAIT, eventFor } from './rig.js';
import { KEYRING, openBench } from './start-worker.js';

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const next = { id: 'next', key: randomBytes(32) };

it('a worker names the key that it lacks, defers as by its own fault, and delivers once it has the key', async () => {
  const bench = await openBench();
  const endpoint = await startEndpoint();
  const [tenantId, ref] = [randomName('tenant'), randomUUID()];
  const sealed = sealSecret({ keys: [next] }, SECRET, configurationKey(tenantId, ref));
  const webhook = buildRecord({ tenantId, ref, endpointUrl: endpoint.url, secrets: [{ sealed }] });
  const first = await bench.startWorker();
  expect(first.ready().faults).not.toHaveProperty('secrets');
  await bench.configure(webhook);
  await eventually(() => expect(first.ready().faults['secrets']).toBe('SECRETS_KEYS lacks next'), WAIT);
  await bench.send(eventFor(webhook));
  const deferred = 'webhook_settlements_total{kind="deferred",reason="fault"} 1';
  await eventually(async () => expect(await first.metrics()).toContain(deferred), WAIT);
  await first.stop();
  const env = { SECRETS_KEYS: `${KEYRING},next:${next.key.toString('base64')}` };
  const second = await bench.startWorker(env);
  expect(second.ready().faults).not.toHaveProperty('secrets');
  expect(second.lines.join()).toContain('"keys":["test","next"]');
  await bench.send(eventFor(webhook));
  await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
  await second.stop();
  await endpoint.close();
  await bench.stop();
});

it('a worker does not name the key of a previous secret once that has expired', async () => {
  const bench = await openBench();
  const worker = await bench.startWorker();
  const [tenantId, ref] = [randomName('tenant'), randomUUID()];
  const sealed = sealSecret({ keys: [next] }, SECRET, configurationKey(tenantId, ref));
  const expiresAt = new Date(Date.now() + 3_000).toISOString();
  await bench.configure(buildRecord({ tenantId, ref, secrets: [{ sealed, expiresAt }] }));
  await eventually(async () => expect(await worker.metrics()).toContain('webhook_configurations 1'), WAIT);
  await eventually(() => {
    expect(Date.now()).toBeGreaterThan(Date.parse(expiresAt));
    expect(worker.ready().faults).not.toHaveProperty('secrets');
  }, WAIT);
  await worker.stop();
  await bench.stop();
});
