import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { RETRY_TIERS, TOPICS } from '@webhooks/contracts';
import { openSpans } from '@webhooks/ledger';
import type { Stack } from '@webhooks/stack';
import { withAdmin } from '../../world/kafka-tools.js';
import type { WrittenRecord } from './fuzz-record.js';

/** Who has to handle which topics; the longer tiers are looked at when their time has come. */
const HANDLERS = [
  { groupPrefix: 'delivery-worker', topics: [TOPICS.events, TOPICS.deliveries, RETRY_TIERS[0]?.topic ?? ''] },
  { groupPrefix: 'query-api', topics: [TOPICS.events, TOPICS.attempts, TOPICS.deadLetters] },
] as const;

/** Records before them in a partition may wait for a receiver that is silent for 10 s. */
const DEADLINE_MS = 60_000;
const LOOK_MS = 250;

const partitionOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/** The last offset of each partition that was written. */
function lastOffsets(records: readonly WrittenRecord[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { topic, partition, offset } of records) {
    const name = partitionOf(topic, partition);
    last.set(name, Math.max(last.get(name) ?? -1, offset));
  }
  return last;
}

/** The partitions in which a group is not past these records, in words. */
async function whoIsBehind(admin: Admin, last: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const behind: string[] = [];
  for (const handler of HANDLERS)
    for (const { topic, partition, from } of await openSpans(admin, handler))
      if (from <= (last.get(partitionOf(topic, partition)) ?? -1))
        behind.push(`${handler.groupPrefix} ${topic}/${partition} at ${from}`);
  return behind;
}

/** Waits until every group is past these records, for a minute at most. Resolves with the partitions in which one is not. */
export async function untilHandled(
  stack: Pick<Stack, 'description'>,
  records: readonly WrittenRecord[],
): Promise<readonly string[]> {
  const last = lastOffsets(records);
  return withAdmin(stack, async (admin) => {
    const deadline = performance.now() + DEADLINE_MS;
    for (;;) {
      const behind = await whoIsBehind(admin, last);
      if (behind.length === 0 || performance.now() > deadline) return behind;
      await delay(LOOK_MS);
    }
  });
}
