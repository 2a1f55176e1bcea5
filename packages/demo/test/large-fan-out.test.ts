import { readFileSync } from 'node:fs';
import { TOPICS, configurationKey } from '@webhooks/contracts';
import type { AttemptEntry, AttemptPack, ConfigurationRecord } from '@webhooks/contracts';
import { feedTopic, newReport, readFeedLine } from '@webhooks/testkit/account';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import kafkajs from 'kafkajs';
import { followTopics } from './follow-topics.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

const ENDPOINTS = 5_000;
/** The bound of a worker's memory, in every scenario but the million configurations. */
const MAX_RSS_MIB = 300;
const WAIT = { timeoutMs: 120_000 };
const WORKER = {
  // A thousand attempts at once would measure the receiver, which is one process of this machine.
  MAX_ATTEMPTS_IN_FLIGHT: '128',
};

let test: TestStack;
let endpoint: Endpoint;

beforeAll(async () => {
  test = await startTestStack({ 'delivery-worker': WORKER });
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem, remember: 2 * ENDPOINTS });
}, 120_000);
afterAll(async () => {
  await endpoint.close();
  await test.stop();
}, 120_000);

function configurationOf(index: number): ConfigurationRecord {
  const at = new Date().toISOString();
  return {
    v: 1,
    tenantId: 'crowd',
    ref: `0191e7a2-0000-7000-8000-${String(index).padStart(12, '0')}`,
    revision: 1,
    eventType: 'PIX_OUT',
    endpointUrl: `${endpoint.origin}/hook-${index}`,
    enabled: true,
    createdAt: at,
    updatedAt: at,
  };
}

/** Written to the topic directly, as config-api writes them: this test examines the worker. */
async function configure(): Promise<void> {
  const brokers = [...test.stack.description().kafkaBrokers];
  const kafka = new kafkajs.Kafka({ clientId: 'test', brokers, logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  const messages = Array.from({ length: ENDPOINTS }, (_, index) => configurationOf(index)).map((record) => ({
    key: configurationKey(record.tenantId, record.ref),
    value: JSON.stringify(record),
  }));
  await producer.send({ topic: TOPICS.configurations, acks: -1, messages });
  await producer.disconnect();
  const metrics = `${test.stack.description().admin['delivery-worker']}/metrics`;
  await eventually(async () => {
    const text = await (await fetch(metrics)).text();
    expect(text).toContain(`webhook_configurations ${ENDPOINTS}\n`);
  }, WAIT);
}

/** The most memory the worker ever had, in MiB. */
function peakOfWorker(): number {
  const pid = test.stack.description().processes['delivery-worker'];
  const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1_024);
}

it('5,000 endpoints for one event: each gets it once, in slices of 32 by ref, in bounded memory', async () => {
  await configure();
  const slices: string[] = [];
  const attempts: AttemptEntry[] = [];
  const { kafkaBrokers } = test.stack.description();
  const unfollow = await followTopics(kafkaBrokers, [TOPICS.fanOuts, TOPICS.attempts], (record) => {
    if (record.topic === TOPICS.fanOuts) return void slices.push(record.headers['after-ref'] ?? '');
    const { records } = JSON.parse(String(record.value)) as AttemptPack;
    attempts.push(...records.filter((entry) => entry.kind === 'attempt'));
  });
  const begin = performance.now();
  const event = buildEvent({ tenantId: 'crowd', eventType: 'PIX_OUT' });
  await feedTopic(kafkaBrokers, [readFeedLine(JSON.stringify(event))], newReport());
  const delivered = (): string[] =>
    attempts.filter(({ result }) => result === 'delivered').map(({ deliveryId }) => deliveryId);
  await eventually(() => {
    expect(delivered()).toHaveLength(ENDPOINTS);
  }, WAIT);
  const seconds = (performance.now() - begin) / 1_000;
  const failed = attempts.length - ENDPOINTS;
  process.stdout.write(
    `${ENDPOINTS} deliveries of one event in ${seconds.toFixed(1)} s, ${failed} failed attempts, the worker had ${peakOfWorker()} MiB at most\n`,
  );
  expect(slices).toEqual([...slices].sort());
  expect(new Set(slices).size).toBe(Math.ceil(ENDPOINTS / 32));
  expect(new Set(delivered()).size).toBe(ENDPOINTS);
  expect(new Set(endpoint.arrivals.map(({ path }) => path)).size).toBe(ENDPOINTS);
  // On a machine that is too busy an attempt can time out after it arrived: that one may come again, and no other.
  expect(endpoint.stats().arrivals).toBeLessThanOrEqual(ENDPOINTS + failed);
  expect(peakOfWorker()).toBeLessThan(MAX_RSS_MIB);
  await unfollow();
}, 180_000);
