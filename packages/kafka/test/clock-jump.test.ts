import { performance } from 'node:perf_hooks';
import { eventually, randomName } from '@webhooks/testkit';
import { openSource, type Kafka, type Source } from '../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka } from './support/cluster.js';

const JUMP_MS = 600_000;
/** Below a member's session of 6 s: one that is silent holds a rebalance up for so long. */
const JOIN_MS = 4_000;
const WINDOW = { maxInFlight: 10, maxInFlightBytes: 1_000_000 };

const now = Date.now;
let kafka: Kafka;
const sources: Source[] = [];
beforeAll(() => {
  kafka = sharedKafka();
});
afterAll(async () => {
  await Promise.all(sources.map((source) => source.stop({ deadlineMs: 1_000 })));
  await closeAll();
});
afterEach(() => {
  Date.now = now;
});

async function join(groupId: string, topic: string): Promise<Source> {
  const source = await openSource({
    kafka: kafkaAt(kafka.brokers),
    groupId,
    topics: [topic],
    window: WINDOW,
    handle: () => Promise.resolve(),
  });
  sources.push(source);
  return source;
}

const partitionsOf = (source: Source): number => source.positions().length;

it('a member whose clock goes back by ten minutes still sends heartbeats, so another member joins at once', async () => {
  const topic = await newTopic(kafka, 2);
  const groupId = randomName('group');
  const first = await join(groupId, topic);
  expect(partitionsOf(first)).toBe(2);
  Date.now = () => now() - JUMP_MS;
  const begin = performance.now();
  const second = await join(groupId, topic);
  expect(performance.now() - begin).toBeLessThan(JOIN_MS);
  await eventually(() => partitionsOf(first) === 1 && partitionsOf(second) === 1);
});
