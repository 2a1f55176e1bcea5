import { fetchEndOffsets } from '../kafkajs/topics.js';
import { until } from '../retry.js';
import { openSource } from './source.js';
import type { SourceOptions } from './source-types.js';

/** So long nothing may be handled until the reading has failed, milliseconds: a rebalance and a slow broker fit. */
const STALLED_MS = 60_000;

/**
 * Reads one topic as a member of a group, up to where it ends now. A record whose `handle` rejects is handled again.
 * Rejects when nothing was handled for a minute, and says why. What was handled before is committed.
 */
export async function readToEnd(
  options: Omit<SourceOptions, 'topics' | 'onFatal'> & { readonly topic: string },
) {
  const { kafka, topic, handle } = options;
  const ends = await fetchEndOffsets(kafka, topic);
  let handledAt = performance.now();
  const source = await openSource({
    ...options,
    topics: [topic],
    handle: (record, partition) => handle(record, partition).then(() => (handledAt = performance.now())),
  });
  const isRead = (): boolean => {
    const positions = new Map(source.positions().map(({ partition, offset }) => [partition, offset]));
    return [...ends].every(([partition, end]) => (positions.get(partition) ?? -1) >= end);
  };
  const isStalled = (): boolean => performance.now() - handledAt > STALLED_MS;
  await until(() => isRead() || isStalled(), Infinity);
  const [done, { lastError = 'no record came' }] = [isRead(), source.health()];
  await source.stop({ deadlineMs: 0 });
  if (!done) throw new Error(`${topic} was not read to its end: ${lastError}`);
}
