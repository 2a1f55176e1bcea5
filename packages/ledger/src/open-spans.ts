import type { Admin } from 'kafkajs';

/** Topics, and the prefix of the consumer groups that handle them; without it, none does. */
export interface HandledPlace {
  readonly topics: readonly string[];
  readonly groupPrefix?: string;
}

/** The records of a partition that no group has handled: from the first one's offset, before `to`. */
export interface OpenSpan {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/** The furthest offset that any of the groups has committed, by partition. */
async function committedOffsets(admin: Admin, place: HandledPlace): Promise<ReadonlyMap<string, number>> {
  const committed = new Map<string, number>();
  if (place.groupPrefix === undefined) return committed;
  const { groups } = await admin.listGroups();
  for (const { groupId } of groups.filter(({ groupId }) => groupId.startsWith(place.groupPrefix ?? '')))
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: [...place.topics] }))
      for (const { partition, offset } of partitions) {
        const key = keyOf(topic, partition);
        committed.set(key, Math.max(committed.get(key) ?? 0, Number(offset)));
      }
  return committed;
}

/** The records after that offset, which are not handled yet. Rejects with kafkajs's errors. */
export async function openSpans(admin: Admin, place: HandledPlace): Promise<readonly OpenSpan[]> {
  const committed = await committedOffsets(admin, place);
  const spans: OpenSpan[] = [];
  for (const topic of place.topics)
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      const from = Math.max(Number(low), committed.get(keyOf(topic, partition)) ?? 0);
      if (from < Number(high)) spans.push({ topic, partition, from, to: Number(high) });
    }
  return spans;
}
