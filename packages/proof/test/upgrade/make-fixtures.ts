// Makes the fixtures of a release: node packages/proof/dist/test/upgrade/make-fixtures.js delivery-worker-1.0.0
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@webhooks/client';
import { RETRY_TIERS, TOPIC_TABLE, deliveryIdOf, encodeEvent } from '@webhooks/contracts';
import type { EventType, PaymentEvent } from '@webhooks/contracts';
import { PAYMENT_SYSTEM, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import {
  DATA_DIR,
  areZero,
  clientFor,
  openProducer,
  print,
  readLags,
  readUnhandled,
  refOf,
  registerWebhooks,
} from '@webhooks/testkit/account';
import mongoose from 'mongoose';
import { buildRelease } from '../../src/upgrade/world.js';
import { SERVICES } from '../../src/upgrade/plan.js';
import { encodeBytes } from './fixtures.js';
import type { About, StoredRecord } from './fixtures.js';

const { EJSON } = mongoose.mongo.BSON;
const LONG = { timeoutMs: 60_000, intervalMs: 200 };
/** One more than a fan-out in memory has: the event goes through `webhooks.fan-outs`. */
const LARGE_FAN_OUT = 33;

const DATABASES = ['webhook_config', 'webhook_query'];

/** One second instead of five minutes, so that an episode begins; two failures open a breaker, so that a delivery is deferred. */
const OVERRIDES = {
  'query-api': { ENDPOINT_FAILING_AFTER: '1s' },
  'delivery-worker': { BREAKER_FAILURES: '2', RETRY_JITTER_PERCENT: '0' },
};

interface Scene {
  readonly stack: Stack;
  readonly clientOf: (tenantId: string) => Client;
  /** Responds with 500 to paths that contain `refuses`, and with 200 to others. */
  readonly endpoint: Endpoint;
}

const webhookAt = ({ endpoint }: Scene, tenantId: string, eventType: EventType, path: string) => ({
  ...{ tenantId, eventType, ref: refOf(path) },
  endpointUrl: `${endpoint.origin}${path}`,
});

/** A wait whose first record lies in the tier of this delay: a little longer, because the attempt takes time. A day is the longest wait. */
const waitFor = (delayMs: number): string => `${Math.min(Math.ceil((1.05 * delayMs) / 1_000) || 1, 86_400)}s`;

const inputOf = ({ tenantId: _, ...input }: ReturnType<typeof webhookAt>) => input;

/** Webhooks of each kind: plain, with a policy and a new secret, one for each retry tier, refusing, to be disabled, many. */
async function register(scene: Scene) {
  const { clientOf } = scene;
  const plain = webhookAt(scene, 'acme', 'PIX_DYNAMIC_PAID', '/plain');
  const changed = webhookAt(scene, 'acme', 'PIX_STATIC', '/changed');
  const disabled = webhookAt(scene, 'acme', 'PIX_REVERSAL', '/refuses/disabled');
  const deferred = webhookAt(scene, 'acme', 'PIX_OUT', '/refuses/deferred');
  const tiers = RETRY_TIERS.map(({ name }) => webhookAt(scene, 'globex', 'PIX_OUT', `/refuses/${name}`));
  const many = Array.from({ length: LARGE_FAN_OUT }, (_, nth) =>
    webhookAt(scene, 'initech', 'PIX_OUT', `/many-${nth}`),
  );
  await registerWebhooks(clientOf, [plain, changed, disabled, deferred, ...tiers, ...many]);
  await clientOf('acme').update({ ...inputOf(changed), applicationId: 'shop' });
  const headers = { authorization: 'Bearer of-the-endpoint-0123456789' };
  await clientOf('acme').setPolicy(changed.ref, { timeoutMs: 5_000, headers, retryDelays: ['5s', '1h'] });
  await clientOf('acme').rotateSecret(changed.ref);
  const { secret } = await clientOf('acme').rotateSecret(changed.ref);
  await clientOf('acme').setPolicy(disabled.ref, { retryDelays: ['5s', '5s'] });
  for (const [index, { delayMs }] of RETRY_TIERS.entries())
    await clientOf('globex').setPolicy(tiers[index]?.ref ?? '', { retryDelays: [waitFor(delayMs)] });
  for (const tenantId of ['acme', 'globex'])
    await clientOf(tenantId).createAlertEndpoint({ endpointUrl: `${scene.endpoint.origin}/alerts` });
  await delay(1_000);
  return { plain, changed, disabled, deferred, secret };
}

/** Events of each type by ingest and on the topic, a record that is no event, redeliveries of each kind, and a webhook that is disabled. */
async function act(
  scene: Scene,
  { plain, changed, disabled, deferred }: Awaited<ReturnType<typeof register>>,
) {
  const { stack, clientOf } = scene;
  const acme = clientOf('acme');
  const paymentSystem = clientFor(stack.description(), PAYMENT_SYSTEM);
  const topic = await openProducer(stack.description().kafkaBrokers, 'fixtures');
  const post = async (tenantId: string, eventType: EventType): Promise<PaymentEvent> => {
    const event = buildEvent({ tenantId, eventType });
    await paymentSystem.postEvents([event]);
    return event;
  };
  const first = await post(plain.tenantId, plain.eventType);
  const produced = buildEvent(plain);
  const broken = { key: 'broken', value: '{"this":"is no event"}' };
  await topic.send([{ key: produced.data.endToEndId, value: encodeEvent(produced) }, broken]);
  await topic.close();
  await post(changed.tenantId, changed.eventType);
  const ended = await post(disabled.tenantId, disabled.eventType);
  const [tier, many] = [await post('globex', 'PIX_OUT'), await post('initech', 'PIX_OUT')];
  for (let nth = 0; nth < 3; nth += 1) {
    await post(deferred.tenantId, deferred.eventType);
    await delay(500);
  }
  await acme.update({ ...inputOf(disabled), enabled: false });
  const statusOf = async (ref: string, { id, tenantId }: PaymentEvent) =>
    (await clientOf(tenantId).delivery(deliveryIdOf(tenantId, ref, id))).status;
  await eventually(async () => (await statusOf(plain.ref, produced)) === 'delivered', LONG);
  await acme.sendTest(plain.ref);
  await acme.redeliver(deliveryIdOf('acme', plain.ref, first.id));
  await acme.send(produced.id, plain.ref);
  const from = new Date(Date.now() - 60_000).toISOString();
  const job = await acme.startRedelivery({ ref: plain.ref, status: 'delivered', from });
  await eventually(async () => (await acme.redelivery(job.id)).state === 'completed', LONG);
  await eventually(async () => (await statusOf(disabled.ref, ended)) === 'cancelled', LONG);
  await eventually(async () => (await statusOf(refOf('/refuses/1s'), tier)) === 'dead', LONG);
  await eventually(async () => (await statusOf(refOf('/many-32'), many)) === 'delivered', LONG);
  const alertsTo = (kind: string) =>
    scene.endpoint.arrivals.some(({ path, body }) => path === '/alerts' && body.includes(kind));
  await eventually(() => alertsTo('endpoint.failing') && alertsTo('delivery.dead'), LONG);
}

/** Writes all records and documents, one a line. */
async function dump({ stack }: Scene, folder: string): Promise<void> {
  const { kafkaBrokers, mongodbUri } = stack.description();
  const records: StoredRecord[] = [];
  const topics = TOPIC_TABLE.map(({ name }) => name);
  await readUnhandled(
    kafkaBrokers,
    { topics },
    ({ topic, partition, message: { key, headers = {}, value } }) =>
      records.push({
        ...{ topic, partition, key: encodeBytes(key) },
        headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)])),
        value: encodeBytes(value),
      }),
  );
  const client = await new mongoose.mongo.MongoClient(mongodbUri).connect();
  const documents: string[] = [];
  for (const database of DATABASES)
    for (const { collectionName: collection } of await client.db(database).collections())
      for (const document of await client.db(database).collection(collection).find().toArray())
        documents.push(EJSON.stringify({ database, collection, document }, { relaxed: false }));
  await client.close();
  // By topic: records of one partition keep their order.
  const lines = records
    .sort((a, b) => a.topic.localeCompare(b.topic))
    .map((record) => JSON.stringify(record));
  writeFileSync(join(folder, 'records.ndjson'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'documents.ndjson'), `${documents.join('\n')}\n`);
}

async function make(release: string, dataDir: string, folder: string): Promise<void> {
  const checkout = buildRelease(release, print);
  const tenants = ['acme', 'globex', 'initech'];
  const stack = await startStack({
    dataDir,
    fixedPorts: false,
    tenants,
    without: SERVICES,
    overrides: OVERRIDES,
    log: print,
  });
  try {
    await Promise.all(SERVICES.map((name) => stack.fleet.startReplica({ name, like: name, checkout })));
    const { certPem, keyPem } = await stack.authority.issue(['localhost']);
    const reply = ({ path }: { readonly path: string }) => (path.includes('refuses') ? 500 : 200);
    const endpoint = await startEndpoint({ certPem, keyPem, reply });
    const scene = {
      stack,
      endpoint,
      clientOf: (tenantId: string) => clientFor(stack.description(), tenantId),
    };
    const registered = await register(scene);
    await act(scene, registered);
    await stack.fleet.stop('delivery-worker');
    await eventually(async () => areZero(await readLags(stack.description().admin['query-api'])), LONG);
    for (const name of SERVICES) await stack.fleet.stop(name);
    await endpoint.close();
    await dump(scene, folder);
    const { keyring } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as Pick<
      About,
      'keyring'
    >;
    const about: About = { madeAt: Date.now(), keyring, secret: registered.secret };
    writeFileSync(join(folder, 'about.json'), `${JSON.stringify(about, null, 2)}\n`);
  } finally {
    await stack.stop();
  }
}

const [release = ''] = process.argv.slice(2);
const folder = join(DATA_DIR, '..', 'packages', 'proof', 'test', 'upgrade', 'fixtures', release);
const dataDir = mkdtempSync(join(tmpdir(), 'fixtures-'));
mkdirSync(folder, { recursive: true });
try {
  await make(release, dataDir, folder);
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
print(`written to ${folder}`);
