import type { Lane } from './lane.js';

/** Topic → age in milliseconds of its oldest record that was read and is not handled; 0 for a topic without any. */
export function oldestAges(
  lanes: readonly Pick<Lane, 'topic' | 'oldestAt'>[],
  now: number,
): Readonly<Record<string, number>> {
  const ages: Record<string, number> = {};
  for (const { topic, oldestAt = now } of lanes) ages[topic] = Math.max(ages[topic] ?? 0, now - oldestAt, 0);
  return ages;
}
