import type { Client } from '@webhooks/client';
import type { LogPlan, LogTotals } from '../load/make-log.js';
import { VoidRun } from '../measure/void-run.js';

/** Deliveries of one count at most: query-api counts for 4 s at most, and the slowest looks at some thousands a second. */
const COUNTED_AT_ONCE = 10_000;
const STATUSES = ['delivered', 'dead'] as const;

/** How many deliveries match. Throws `VoidRun` when they are too many to count in time. */
async function countAll(
  client: Pick<Client, 'countRedelivery'>,
  input: Parameters<Client['countRedelivery']>[0],
): Promise<number> {
  const { matched, matchedIsLowerBound } = await client.countRedelivery(input);
  if (!matchedIsLowerBound) return matched;
  throw new VoidRun(`only ${matched} deliveries of a part of the log were counted in time`);
}

/** How many deliveries of a plan the log has, by status, counted endpoint by endpoint as the dry run of a redelivery does. */
export async function countLogged(
  client: Pick<Client, 'countRedelivery'>,
  { endpoints, from, to, deliveries }: LogPlan,
): Promise<Omit<LogTotals, 'attempts'>> {
  const parts = Math.ceil(deliveries / endpoints.length / COUNTED_AT_ONCE);
  const timeOf = (part: number): string =>
    new Date(Math.floor(from + ((to + 1 - from) * part) / parts)).toISOString();
  const spans = Array.from({ length: parts }, (_, part) => ({ from: timeOf(part), to: timeOf(part + 1) }));
  const totals = { delivered: 0, dead: 0 };
  for (const { ref } of endpoints)
    for (const status of STATUSES)
      for (const span of spans) totals[status] += await countAll(client, { ref, status, ...span });
  return totals;
}
