import type { Client } from '@webhooks/client';
import type { LogPlan, LogTotals } from '../load/make-log.js';

/** Deliveries of one count at most: the database counts for 8 s at most, and the slowest looks at some thousands a second. */
const COUNTED_AT_ONCE = 10_000;
const STATUSES = ['delivered', 'dead'] as const;

/** How many deliveries of a plan the log has, by status, counted endpoint by endpoint as the dry run of a redelivery does. */
export async function countLogged(
  client: Pick<Client, 'countRedelivery'>,
  { endpoints, from, to, deliveries }: LogPlan,
): Promise<Omit<LogTotals, 'attempts'>> {
  const parts = Math.ceil(deliveries / endpoints.length / COUNTED_AT_ONCE);
  const timeOf = (part: number): string =>
    new Date(Math.floor(from + ((to + 1 - from) * part) / parts)).toISOString();
  const totals = { delivered: 0, dead: 0 };
  for (const { ref } of endpoints)
    for (const status of STATUSES)
      for (let part = 0; part < parts; part += 1)
        totals[status] += await client.countRedelivery({
          ref,
          status,
          from: timeOf(part),
          to: timeOf(part + 1),
        });
  return totals;
}
