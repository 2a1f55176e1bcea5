import { isEventType } from '@webhooks/contracts';
import type { ConcurrencyLimiter, Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { findBuckets, findLastHour, WHOLE_TENANT } from '../endpoint-health/count-attempts.js';
import { findCurrent } from '../episodes/episode-store.js';
import { dayOf, findSums } from '../statements/daily-totals.js';
import { firstDayOf, viewSeries, viewWebhook } from './view-overview.js';

export interface OverviewOptions {
  readonly database: Pick<Database, 'within'>;
  readonly configurations: Pick<Configurations, 'ofTenant'>;
  /** Limits the lists that the database runs at once. */
  readonly lists: Pick<ConcurrencyLimiter, 'run'>;
}

async function overview(tenantId: string, { database, configurations }: OverviewOptions) {
  const [now, runQuery] = [Date.now(), database.within(REQUEST_MS)];
  const all = await configurations.ofTenant(tenantId);
  const webhooks = all.filter(({ eventType }) => isEventType(eventType));
  const [hour, series, episodes] = await Promise.all([
    findLastHour(runQuery, tenantId, now),
    findBuckets(runQuery, { tenantId, ref: WHOLE_TENANT, now }),
    findCurrent(runQuery, tenantId),
  ]);
  const [first] = [...episodes.values()].map((episode) => firstDayOf(episode, now)).sort();
  const days = await findSums(runQuery, tenantId, first ?? dayOf(now), dayOf(now));
  const data = webhooks.map((webhook) => {
    const { ref } = webhook;
    const episode = episodes.get(ref);
    const own = [...days].filter(([day]) => episode && day >= firstDayOf(episode, now));
    const sums = new Map(own.map(([day, of]) => [day, of.get(ref) ?? {}]));
    return viewWebhook({ webhook, buckets: hour.get(ref) ?? [], episode, days: sums }, now);
  });
  return { data, results: data.length, series: viewSeries(series, now) };
}

/** `GET /webhooks/overview`: how all webhooks of a tenant do. Reads at most four ranges, each by one index. */
export const overviewOperations = (options: OverviewOptions): readonly Operation[] => [
  {
    method: 'GET',
    path: '/integration/v1/webhooks/overview',
    scopes: ['delivery.read'],
    handle: ({ identity }) =>
      options.lists.run(identity, async () => ({
        status: 200,
        body: await overview(identity.tenantId, options),
      })),
  },
];
