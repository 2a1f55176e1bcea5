import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import { openSpans, readWhole } from '@webhooks/ledger';
import type { HandledPlace } from '@webhooks/ledger';
import kafkajs from 'kafkajs';

/** Where deliveries wait, and the prefix of the groups that handle them. */
const PLACE: HandledPlace = {
  topics: [TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};
const DEADLINE_MS = 60_000;

/** Ids of the deliveries that wait in Kafka: in a retry tier or in `webhooks.deliveries`, beyond what was handled. */
export async function findWaiting(brokers: readonly string[], place = PLACE): Promise<ReadonlySet<string>> {
  const kafka = new kafkajs.Kafka({
    clientId: 'bench',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = kafka.admin();
  await admin.connect();
  const spans = await openSpans(admin, place).finally(() => admin.disconnect());
  const firstOf = new Map(spans.map(({ topic, partition, from }) => [`${topic}/${partition}`, from]));
  const waiting = new Set<string>();
  await readWhole(
    kafka,
    [...new Set(spans.map(({ topic }) => topic))],
    ({ topic, partition, message }) => {
      const id = message.headers?.['delivery-id'];
      if (id !== undefined && Number(message.offset) >= (firstOf.get(`${topic}/${partition}`) ?? Infinity))
        waiting.add(String(id));
    },
    DEADLINE_MS,
  );
  return waiting;
}
