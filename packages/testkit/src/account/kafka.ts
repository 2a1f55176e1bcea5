import { TOPICS } from '@webhooks/contracts';
import { withAdmin } from '@webhooks/local';
import kafkajs from 'kafkajs';
import type { Admin, Kafka, KafkaMessage, Message } from 'kafkajs';
import { eventually } from '../eventually.js';
import { randomName } from '../build-event.js';
import { STALLED_MS } from './progress.js';

/** Creates a kafkajs client that logs nothing. */
export const createKafkaClient = (brokers: readonly string[], clientId: string): Kafka =>
  new kafkajs.Kafka({ clientId, brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });

/** Opens a producer of one topic, as any payment system could: default partitioner, acks=all. Rejects without a broker. */
export async function openProducer(
  brokers: readonly string[],
  clientId: string,
  topic: string = TOPICS.events,
) {
  const producer = createKafkaClient(brokers, clientId).producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    // A retry of kafkajs 2.2.4 skips each broker that has responded before. A partition whose leader has moved to such a
    // broker is then acknowledged and was never written.
    retry: { retries: 0 },
  });
  await producer.connect();
  return {
    /** Tries once. Resolves when all are acknowledged. After a rejection the topic may hold some of them. */
    send: (messages: Message[], timeout?: number) =>
      producer.send({ topic, acks: -1, messages, ...(timeout === undefined ? {} : { timeout }) }),
    close: () => producer.disconnect(),
  };
}

/** Topics, and the prefix of the consumer groups that handle them. Without a prefix, no record counts as handled. */
export interface HandledPlace {
  readonly topics: readonly string[];
  readonly groupPrefix?: string;
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/** Returns the highest offset that any of the groups has committed, by partition. */
async function committedOffsets(admin: Admin, { topics, groupPrefix }: HandledPlace) {
  const committed = new Map<string, number>();
  const { groups } = groupPrefix === undefined ? { groups: [] } : await admin.listGroups();
  for (const { groupId } of groups.filter(({ groupId }) => groupId.startsWith(groupPrefix ?? '')))
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: [...topics] }))
      for (const { partition, offset } of partitions) {
        const key = keyOf(topic, partition);
        committed.set(key, Math.max(committed.get(key) ?? 0, Number(offset)));
      }
  return committed;
}

/**
 * Returns the unhandled range of each partition that has one: offsets `from` (included) to `to` (excluded). Rejects with kafkajs's errors.
 */
export async function findUnhandledRanges(admin: Admin, place: HandledPlace) {
  const committed = await committedOffsets(admin, place);
  const ends = await Promise.all(
    place.topics.map(async (topic) => {
      const partitions = await admin.fetchTopicOffsets(topic);
      return partitions.map(({ partition, low, high }) => {
        const from = Math.max(Number(low), committed.get(keyOf(topic, partition)) ?? 0);
        return { topic, partition, from, to: Number(high) };
      });
    }),
  );
  return ends.flat().filter(({ from, to }) => from < to);
}

/** One record and its partition. */
export interface FoundRecord {
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

/**
 * Calls `onRecord` for every record that no group has handled, in order within each partition. Reads with a new group that commits nothing.
 * Rejects after two minutes.
 */
export async function readUnhandled(
  brokers: readonly string[],
  place: HandledPlace,
  onRecord: (record: FoundRecord) => void,
): Promise<void> {
  const spans = await withAdmin(brokers, (admin) => findUnhandledRanges(admin, place));
  const open = new Map(spans.map((span) => [keyOf(span.topic, span.partition), span]));
  if (open.size === 0) return;
  const kafka = createKafkaClient(brokers, 'proof');
  const consumer = kafka.consumer({ groupId: randomName('read-spans'), maxWaitTimeInMs: 100 });
  // Not in `eachBatch`, because it is not called for transaction markers and aborted records.
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { topic, partition, lastOffset } }) => {
    const key = keyOf(topic, partition);
    if (Number(lastOffset) >= (open.get(key)?.to ?? 0) - 1) open.delete(key);
  });
  let crash: Error | undefined;
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => (crash = error));
  await consumer.connect();
  const isRead = (): boolean => {
    if (crash) throw crash;
    return open.size === 0;
  };
  try {
    await consumer.subscribe({ topics: [...new Set(spans.map(({ topic }) => topic))], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: ({ batch: { topic, partition, messages } }) => {
        const { from, to } = open.get(keyOf(topic, partition)) ?? { from: 0, to: 0 };
        const isOpen = ({ offset }: KafkaMessage): boolean => Number(offset) >= from && Number(offset) < to;
        for (const message of messages.filter(isOpen)) onRecord({ topic, partition, message });
        return Promise.resolve();
      },
    });
    await eventually(isRead, { timeoutMs: STALLED_MS, message: 'the topics are read' });
  } finally {
    await consumer.disconnect();
  }
}
