import { TOPICS, TOPIC_TABLE } from '@webhooks/contracts';
import { emptyTestEngines } from '@webhooks/local';
import { createKafka, ensureTopics } from '@webhooks/kafka';
import { eventually } from '@webhooks/testkit';
import { startIngest } from './start-ingest.js';

it('ingest is not ready before the topic exists that somebody else creates', async () => {
  const { kafkaBrokers } = await emptyTestEngines();
  const ingest = await startIngest({ TOPICS_CREATE: 'false' });
  await eventually(() => ingest.faults()['kafka access'] === `missing topics: ${TOPICS.events}`, {
    timeoutMs: 20_000,
  });
  const kafka = createKafka({ brokers: kafkaBrokers, clientId: 'test' });
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
