import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPICS, TOPIC_TABLE } from '@webhooks/contracts';
import { startKafka } from '@webhooks/local';
import type { KafkaEngine } from '@webhooks/local';
import { createKafka, ensureTopics } from '@webhooks/kafka';
import { eventually } from '@webhooks/testkit';
import { startIngest } from './start-ingest.js';

const dataDir = mkdtempSync(join(tmpdir(), 'ingest-'));
let engine: KafkaEngine;

// A broker of its own: no other test has made the topic.
beforeAll(async () => {
  engine = await startKafka({ dataDir });
});
afterAll(async () => {
  await engine.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

it('ingest is not ready before the topic exists that somebody else creates', async () => {
  const ingest = await startIngest({ KAFKA_BROKERS: engine.brokers.join(','), TOPICS_CREATE: 'false' });
  await eventually(() => ingest.faults()['topic']?.includes(TOPICS.events) === true, { timeoutMs: 20_000 });
  const kafka = createKafka({ brokers: engine.brokers, clientId: 'test' });
  const topics = TOPIC_TABLE.filter(({ name }) => name === TOPICS.events);
  await ensureTopics(
    kafka,
    topics.map((spec) => ({ ...spec, replicationFactor: 1 })),
    { deadlineMs: 30_000 },
  );
  await eventually(() => Object.keys(ingest.faults()).length === 0, { timeoutMs: 20_000 });
  await kafka.close();
  await ingest.stop();
}, 60_000);
