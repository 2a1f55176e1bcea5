import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import { createKafkaClient, openSpans, readSpans } from '@webhooks/ledger';
import type { FoundRecord, HandledPlace } from '@webhooks/ledger';

/** Where deliveries wait, and the prefix of the groups that handle them. */
const PLACE: HandledPlace = {
  topics: [TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};
const DEADLINE_MS = 60_000;

/** Ids of the deliveries that wait in Kafka: in a retry tier or in `webhooks.deliveries`, beyond what was handled. */
export async function findWaiting(brokers: readonly string[], place = PLACE): Promise<ReadonlySet<string>> {
  const kafka = createKafkaClient(brokers, 'bench');
  const admin = kafka.admin();
  await admin.connect();
  const spans = await openSpans(admin, place).finally(() => admin.disconnect());
  const waiting = new Set<string>();
  const note = ({ message: { headers } }: FoundRecord): void => {
    const id = headers?.['delivery-id'];
    if (id !== undefined) waiting.add(String(id));
  };
  await readSpans(kafka, spans, note, DEADLINE_MS);
  return waiting;
}
