import { gzipSync } from 'node:zlib';
import { TOPICS } from '@webhooks/contracts';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import kafkajs from 'kafkajs';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

const good = () => buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' });
const text = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const event = good();

/** Each poison, and the reason it has to be rejected with. */
const POISON: readonly (readonly [string, Buffer | null, string])[] = [
  ['no JSON', Buffer.from('<pix/>'), 'not-json'],
  ['nothing', Buffer.alloc(0), 'not-json'],
  ['2 MB of JSON', text({ ...event, note: 'x'.repeat(2_000_000) }), 'too-large'],
  ['gzip of 2 MB', gzipSync(Buffer.alloc(2_000_000, 'x')), 'not-utf8'],
  ['a null value', null, 'null-value'],
  ['an unknown type', text({ ...event, eventType: 'PIX_LOAN' }), 'unknown-event-type'],
  ['a wrong schema', text({ ...event, data: { ...event.data, amount: 1 } }), 'schema'],
  ['duplicate keys', Buffer.from(JSON.stringify(event).replace('{', '{"id":"evt_other",')), 'duplicate-key'],
  ['deep nesting', Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 'too-deep'],
  ['a NUL byte in a string', text({ ...event, note: 'a\0b' }), 'forbidden-character'],
  ['raw NUL bytes', Buffer.alloc(100), 'not-json'],
  [
    'a lone surrogate',
    Buffer.from(JSON.stringify(event).replace('{', '{"note":"\\ud800",')),
    'forbidden-character',
  ],
  ['bytes that are no UTF-8', Buffer.from([0xc3, 0x28]), 'not-utf8'],
];

interface Rejected {
  readonly reason: string;
  readonly value: Buffer | null;
  readonly origin: string;
}

let running: TestStack;
let endpoint: Endpoint;
let kafka: kafkajs.Kafka;

beforeAll(async () => {
  running = await startTestStack();
  const { certPem, keyPem } = await running.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem });
  await running.clientOf('acme').register({ eventType: 'PIX_OUT', endpointUrl: endpoint.url });
  kafka = new kafkajs.Kafka({
    clientId: 'poisoner',
    brokers: [...running.stack.description().kafkaBrokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
});
afterAll(async () => {
  await endpoint.close();
  await running.stop();
});

async function followRejected(): Promise<{ readonly seen: Rejected[]; readonly close: () => Promise<void> }> {
  const consumer = kafka.consumer({
    groupId: 'poison-test',
    maxBytesPerPartition: 20_000_000,
    maxWaitTimeInMs: 100,
  });
  const seen: Rejected[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic: TOPICS.rejected, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message: { headers = {}, value } }) => {
      seen.push({
        reason: String(headers['reject-reason']),
        value,
        origin: `${String(headers['origin-topic'])}/${String(headers['origin-partition'])}`,
      });
      return Promise.resolve();
    },
  });
  return { seen, close: () => consumer.disconnect() };
}

it('each poison is rejected with its reason and its bytes, and the good events around it arrive', async () => {
  const rejected = await followRejected();
  const around = POISON.map(() => [good(), good()] as const);
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  // One partition: whatever would block it blocks all that comes after.
  for (const [index, [, value]] of POISON.entries()) {
    const [before, after] = around[index] ?? [];
    const values = [before ? text(before) : null, value, after ? text(after) : null];
    await producer.send({
      topic: TOPICS.events,
      messages: values.map((each) => ({ partition: 5, key: `k${index}`, value: each })),
    });
  }
  await producer.disconnect();
  await eventually(() => expect(rejected.seen.length).toBeGreaterThanOrEqual(POISON.length), {
    timeoutMs: 30_000,
    message: 'waiting for rejected records',
  });
  const wanted = around.flat().map(({ id }) => id);
  await eventually(
    () => expect(wanted.filter((id) => !endpoint.arrivals.some((arrival) => arrival.id === id))).toEqual([]),
    {
      timeoutMs: 30_000,
      message: 'waiting for the good events',
    },
  );
  expect(rejected.seen.map(({ reason }) => reason).sort()).toEqual(
    POISON.map(([, , reason]) => reason).sort(),
  );
  expect(rejected.seen.every(({ origin }) => origin === `${TOPICS.events}/5`)).toBe(true);
  for (const [name, value, reason] of POISON) {
    const found = rejected.seen.some(
      (record) =>
        record.reason === reason &&
        (value === null ? record.value === null : record.value?.equals(value) === true),
    );
    expect([name, found]).toEqual([name, true]);
  }
  await rejected.close();
});
