import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import { openSpans } from '@webhooks/ledger';
import type { HandledPlace, OpenSpan } from '@webhooks/ledger';
import type { Kafka } from 'kafkajs';
import { benchKafka } from './kafka-tools.js';

/** Where deliveries wait, and the prefix of the groups that handle them. */
const PLACE: HandledPlace = {
  topics: [TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};
const DEADLINE_MS = 60_000;

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/** Reads those spans and gives the delivery ids found in them. */
async function readSpans(kafka: Kafka, spans: readonly OpenSpan[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const byKey = new Map(spans.map((span) => [keyOf(span.topic, span.partition), span]));
  const open = new Set(byKey.keys());
  if (open.size === 0) return found;
  const consumer = kafka.consumer({ groupId: `bench-waiting-${process.pid}-${Date.now()}` });
  await consumer.connect();
  await consumer.subscribe({ topics: [...new Set(spans.map(({ topic }) => topic))], fromBeginning: true });
  const { promise: done, resolve, reject } = Promise.withResolvers<undefined>();
  const timer = setTimeout(
    () => reject(new Error('what waits in Kafka could not be read in 60 s')),
    DEADLINE_MS,
  );
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ topic, partition, message }) => {
      const key = keyOf(topic, partition);
      const span = byKey.get(key);
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

/** Those of these deliveries that wait in Kafka: in a retry tier or in `webhooks.deliveries`, beyond what was handled. */
export async function findWaiting(
  brokers: readonly string[],
  deliveryIds: readonly string[],
  place = PLACE,
): Promise<ReadonlySet<string>> {
  const kafka = benchKafka(brokers);
  const admin = kafka.admin();
  await admin.connect();
  try {
    const waiting = await readSpans(kafka, await openSpans(admin, place));
    return new Set(deliveryIds.filter((id) => waiting.has(id)));
  } finally {
    await admin.disconnect();
  }
}
