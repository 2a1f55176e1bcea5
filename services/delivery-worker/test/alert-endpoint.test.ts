import { randomUUID } from 'node:crypto';
import {
  TOPICS,
  configurationKey,
  deliveryIdOf,
  parseKeyring,
  sealSecret,
  taskHeaders,
} from '@webhooks/contracts';
import type { ConfigurationRecord } from '@webhooks/contracts';
import { generateSecret, prepareSecret, signStandardWebhooks } from '@webhooks/outbound';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { buildTask } from './builders.js';
import { WAIT, eventFor, openRig } from './rig.js';
import type { Rig } from './rig.js';
import { KEYRING } from './start-worker.js';

let rig: Rig;
let endpoint: Endpoint;

beforeAll(async () => {
  rig = await openRig();
});
beforeEach(async () => {
  endpoint = await startEndpoint();
});
afterEach(() => endpoint.close());
afterAll(() => rig.stop());

const SECRET = generateSecret();

/** A tenant with one alert endpoint. */
function register(over: Partial<ConfigurationRecord> = {}): Promise<ConfigurationRecord> {
  const [tenantId, ref] = [randomName('tenant'), randomUUID()];
  const sealed = sealSecret(parseKeyring(KEYRING), SECRET, configurationKey(tenantId, ref));
  const alert = { format: 'text', language: 'pt-BR' } as const;
  return rig.register(endpoint, {
    ...{ tenantId, ref, eventType: 'ENDPOINT_ALERT', alert, secrets: [{ sealed }], ...over },
  });
}

/** Publishes an alert as query-api does. */
async function alert({ tenantId, ref, revision }: ConfigurationRecord, text: string): Promise<Buffer> {
  const body = Buffer.from(JSON.stringify({ text }));
  const eventId = randomName('alert').replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const deliveryId = deliveryIdOf(tenantId, ref, eventId);
  const now = Date.now();
  const task = buildTask({
    ...{ deliveryId, eventId, eventType: 'ENDPOINT_ALERT', tenantId, ref, revision, body },
    ...{ dueAt: now, firstDueAt: now, origin: { topic: TOPICS.deliveries, partition: 0, offset: '0' } },
  });
  await rig.bench.publish(TOPICS.deliveries, { key: deliveryId, value: body, headers: taskHeaders(task) });
  return body;
}

it('an alert is posted as it is, signed, is retried, and is logged with its kind', async () => {
  await endpoint.close();
  let calls = 0;
  endpoint = await startEndpoint({ reply: () => Promise.resolve((calls += 1) === 1 ? 503 : 200) });
  const configuration = await register();
  const body = await alert(configuration, 'hook.acme.com.br não responde');
  await rig.untilTimeline(configuration.ref, ['1 503', '2 200']);
  const [first, second] = endpoint.arrivals;
  expect([first?.body, second?.body]).toEqual([body, body]);
  const headers = second?.headers ?? {};
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-attempt': '2' });
  expect(headers['webhook-signature']).toBe(
    signStandardWebhooks({
      ...{ secrets: [prepareSecret(SECRET)], id: String(headers['webhook-id']), body },
      timestampSeconds: Number(headers['webhook-timestamp']),
    }),
  );
  const logged = rig.log.map(({ value }) => String(value)).filter((text) => text.includes(configuration.ref));
  expect(logged.join()).toContain('"eventType":"ENDPOINT_ALERT"');
});

it('a payment goes to the webhooks of its tenant, never to an alert endpoint', async () => {
  const alerted = await register();
  const webhook = await rig.register(endpoint, { tenantId: alerted.tenantId, eventType: 'PIX_OUT' });
  const event = eventFor(alerted);
  await rig.bench.send(event);
  await rig.untilTimeline(webhook.ref, ['1 200']);
  expect(rig.story(alerted.ref)).toEqual([]);
});

it('an alert is cancelled when its endpoint has ended', async () => {
  const configuration = await register({ enabled: false });
  await alert(configuration, 'x');
  await rig.untilTimeline(configuration.ref, ['cancelled disabled']);
  await eventually(() => expect(endpoint.arrivals).toHaveLength(0), WAIT);
});
