import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPICS } from '@webhooks/contracts';
import type { AttemptPack } from '@webhooks/contracts';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';
import { eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import kafkajs from 'kafkajs';
import { readFeedLine } from '@webhooks/ledger';
import { feedTopic } from '@webhooks/ledger';
import { generateSample } from '@webhooks/ledger';
import { clientFor } from '@webhooks/ledger';
import { newReport } from '@webhooks/ledger';

/** Contract §1 "In force": no attempt starts later than this after a disabling PUT was answered. */
const BOUND_MS = 1_000;
const EVENTS = 12_000;

const dataDir = mkdtempSync(join(tmpdir(), 'disable-'));
let stack: Stack;
let endpoint: Endpoint;

beforeAll(async () => {
  stack = await startStack({ dataDir, fixedPorts: false, log: () => undefined });
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  // Slow enough that thousands of events still wait for their first attempt when the configuration is disabled.
  endpoint = await startEndpoint({
    certPem,
    keyPem,
    remember: 1,
    answer: { kind: 'status', status: 200, delayMs: 50 },
  });
});
afterAll(async () => {
  await endpoint.close();
  await stack.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Everything the worker told of its attempts, read by a client that is none of ours. */
async function followAttempts(): Promise<{
  readonly entries: AttemptPack['records'][number][];
  readonly close: () => Promise<void>;
}> {
  const kafka = new kafkajs.Kafka({
    clientId: 'test',
    brokers: [...stack.description().kafkaBrokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const consumer = kafka.consumer({ groupId: 'disable-test', maxWaitTimeInMs: 100 });
  const entries: AttemptPack['records'][number][] = [];
  await consumer.connect();
  await consumer.subscribe({ topic: TOPICS.attempts, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      entries.push(...(JSON.parse(String(message.value)) as AttemptPack).records);
      return Promise.resolve();
    },
  });
  return { entries, close: () => consumer.disconnect() };
}

it('no attempt starts later than 1 s after the answer to a PUT with enabled false, while events pour in', async () => {
  const client = clientFor(stack.clientOf('acme'), stack.description());
  const webhook = await client.register({ eventType: 'PIX_STATIC', endpointUrl: `${endpoint.origin}/load` });
  const lines = generateSample(EVENTS * 8, 3)
    .filter(({ tenantId, eventType }) => tenantId === 'acme' && eventType === 'PIX_STATIC')
    .map((event) => readFeedLine(JSON.stringify(event)));
  const attempts = await followAttempts();
  const feeding = feedTopic(stack.description().kafkaBrokers, lines, newReport());
  await eventually(() => expect(endpoint.stats().arrivals).toBeGreaterThan(500), {
    timeoutMs: 30_000,
    message: 'waiting for load',
  });
  await client.update({
    ref: webhook.ref,
    eventType: webhook.eventType,
    endpointUrl: webhook.endpointUrl,
    enabled: false,
  });
  const answeredAt = Date.now();
  await feeding;
  const told = () => attempts.entries.filter(({ kind }) => kind === 'attempt');
  await eventually(() => expect(told().length).toBeGreaterThanOrEqual(endpoint.stats().arrivals), {
    timeoutMs: 30_000,
    message: 'waiting for the attempts to be told',
  });
  const made = told();
  const cancelled = attempts.entries.filter(({ kind }) => kind === 'cancelled');
  const latest = Math.max(...made.map(({ at }) => at));
  process.stdout.write(
    `attempts=${made.length} cancelled=${cancelled.length}, the last one started ${latest - answeredAt} ms after the answer\n`,
  );
  expect(made.length).toBeGreaterThanOrEqual(endpoint.stats().arrivals);
  expect(made.length).toBeLessThan(lines.length);
  expect(latest - answeredAt).toBeLessThanOrEqual(BOUND_MS);
  await attempts.close();
}, 120_000);
