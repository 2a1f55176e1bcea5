import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import { createKafkaClient, readUnhandled } from '@webhooks/ledger';
import type { FoundRecord, HandledPlace } from '@webhooks/ledger';

/** Where deliveries wait, and the prefix of the groups that handle them. */
const PLACE: HandledPlace = {
  topics: [TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};

/** Ids of the deliveries that wait in Kafka: in a retry tier or in `webhooks.deliveries`, beyond what was handled. */
export async function findWaiting(brokers: readonly string[], place = PLACE): Promise<ReadonlySet<string>> {
  const kafka = createKafkaClient(brokers, 'bench');
  const waiting = new Set<string>();
  const note = ({ message: { headers } }: FoundRecord): void => {
    const id = headers?.['delivery-id'];
    if (id !== undefined) waiting.add(String(id));
  };
  await readUnhandled(kafka, place, note);
  return waiting;
}
