import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import kafkajs from 'kafkajs';
import type { Admin, Kafka } from 'kafkajs';

/** Where deliveries wait, and the prefix of the groups that handle them. */
export interface WaitingPlace {
  readonly topics: readonly string[];
  readonly groupPrefix: string;
}

const PLACE: WaitingPlace = {
  topics: [TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};
const DEADLINE_MS = 60_000;

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

interface Span {
  /** First offset that no group has handled, and the end. */
  readonly from: number;
  readonly to: number;
}

/** The furthest offset that any of the workers' groups has committed, by partition. */
async function committedOffsets(admin: Admin, place: WaitingPlace): Promise<ReadonlyMap<string, number>> {
  const { groups } = await admin.listGroups();
  const workers = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(place.groupPrefix));
  const committed = new Map<string, number>();
  for (const groupId of workers) {
    const topics = await admin.fetchOffsets({ groupId, topics: [...place.topics] });
    for (const { topic, partitions } of topics)
      for (const { partition, offset } of partitions) {
        const key = keyOf(topic, partition);
        committed.set(key, Math.max(committed.get(key) ?? 0, Number(offset)));
      }
  }
  return committed;
}

/** For each partition what lies beyond that: it is not handled yet. */
async function openSpans(admin: Admin, place: WaitingPlace): Promise<ReadonlyMap<string, Span>> {
  const committed = await committedOffsets(admin, place);
  const spans = new Map<string, Span>();
  for (const topic of place.topics)
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      const key = keyOf(topic, partition);
      const from = Math.max(Number(low), committed.get(key) ?? 0);
      if (from < Number(high)) spans.set(key, { from, to: Number(high) });
    }
  return spans;
}

/** Reads those spans and gives the delivery ids found in them. */
async function readSpans(kafka: Kafka, spans: ReadonlyMap<string, Span>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const open = new Set(spans.keys());
  if (open.size === 0) return found;
  const consumer = kafka.consumer({ groupId: `bench-waiting-${process.pid}-${Date.now()}` });
  await consumer.connect();
  const topics = [...new Set([...open].map((key) => key.slice(0, key.lastIndexOf('/'))))];
  await consumer.subscribe({ topics, fromBeginning: true });
  const { promise: done, resolve, reject } = Promise.withResolvers<undefined>();
  const timer = setTimeout(
    () => reject(new Error('what waits in Kafka could not be read in 60 s')),
    DEADLINE_MS,
  );
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ topic, partition, message }) => {
      const key = keyOf(topic, partition);
      const span = spans.get(key);
      const offset = Number(message.offset);
      const id = message.headers?.['delivery-id'];
      if (span && offset >= span.from && id !== undefined) found.add(String(id));
      if (span && offset >= span.to - 1) open.delete(key);
      if (open.size === 0) resolve(undefined);
      return Promise.resolve();
    },
  });
  try {
    await done;
  } finally {
    clearTimeout(timer);
    await consumer.disconnect();
  }
  return found;
}

/** How many of these deliveries wait in Kafka: in a retry tier or in `webhooks.deliveries`, beyond what was handled. */
export async function findWaiting(
  brokers: readonly string[],
  deliveryIds: readonly string[],
  place = PLACE,
): Promise<number> {
  const kafka = new kafkajs.Kafka({
    clientId: 'bench-ledger',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const waiting = await readSpans(kafka, await openSpans(admin, place));
    return deliveryIds.filter((id) => waiting.has(id)).length;
  } finally {
    await admin.disconnect();
  }
}
