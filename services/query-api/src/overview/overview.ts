import { causeOf, isEventType } from '@webhooks/contracts';
import type { ConcurrencyLimiter, Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { ConfigurationRow, Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { findBuckets, findLastHour, WHOLE_TENANT } from '../endpoint-health/count-attempts.js';
import { BUCKET_MS, bucketStartOf, DAY_MS } from '../endpoint-health/health-bucket.js';
import type { HealthBucket } from '../endpoint-health/health-bucket.js';
import { stateOf, timeOf, viewWindow } from '../endpoint-health/view-health.js';
import type { Episode } from '../episodes/episode.js';
import { findCurrent } from '../episodes/episode-store.js';
import { omitUndefined } from '../omit-undefined.js';
import { formatCents } from '../payments/view-transaction.js';
import { dayOf, findSums, NOTHING, plus } from '../statements/daily-totals.js';
import type { DaySums } from '../statements/daily-totals.js';

/** A delivery waits for eight days at most, so that of earlier days none waits. */
const MAX_WAIT_MS = 8 * DAY_MS;

/** The first day of which the sums are read for an episode. */
const firstDayOf = ({ first }: Episode, now: number): string => dayOf(Math.max(first.at, now - MAX_WAIT_MS));

/**
 * Returns the events since the episode began that are not delivered. Of its first day only those that wait, because
 * others may have ended before. `atLeast`: there may be more.
 */
function viewUndelivered(episode: Episode, totals: readonly DaySums[], now: number) {
  const firstDay = firstDayOf(episode, now);
  let sum = NOTHING;
  let atLeast = episode.first.at < now - MAX_WAIT_MS;
  for (const { day, sums } of totals.filter((one) => one.day >= firstDay)) {
    const { pending = NOTHING, dead = NOTHING, cancelled = NOTHING } = sums;
    const ended = plus(dead, cancelled);
    sum = plus(plus(sum, pending), day === firstDay ? NOTHING : ended);
    atLeast ||= day === firstDay && ended.events > 0;
  }
  return { events: sum.events, amount: formatCents(sum.cents), atLeast };
}

function viewEpisode(episode: Episode, totals: readonly DaySums[], now: number) {
  const { status, error, code } = episode.last;
  const cause = causeOf({ status, error, code });
  return {
    topFailure: { class: String(status ?? error ?? ''), ...omitUndefined({ code, cause }) },
    undelivered: viewUndelivered(episode, totals, now),
  };
}

/**
 * Shows one webhook by its buckets of the last hour. Its state is that of its health, but `idle` without an attempt, and
 * `failing` from the first failure without a success in that hour.
 */
function viewWebhook(webhook: ConfigurationRow, buckets: readonly HealthBucket[], episode?: Episode) {
  const { ref, eventType, endpointUrl, applicationId, enabled } = webhook;
  const now = Date.now();
  const { state, failingSince: since, until: nextProbeAt } = stateOf(buckets, { enabled, episode }, now);
  const { p95Ms } = viewWindow(buckets, 0);
  const delivered = buckets.reduce((sum, { succeeded }) => sum + succeeded, 0);
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
  return {
    ...{ ref, eventType, endpointUrl, enabled, ...omitUndefined({ applicationId }) },
    ...{ state, ...omitUndefined({ since, nextProbeAt }) },
    lastHour: { delivered, failed, ...omitUndefined({ p95Ms }) },
  };
}

/** Shows a tenant's last day: one point for each ten minutes, the oldest first. */
function viewSeries(buckets: readonly HealthBucket[], now: number) {
  const known = new Map(buckets.map((bucket) => [bucket.startAt, bucket]));
  const first = bucketStartOf(now - DAY_MS + BUCKET_MS);
  return Array.from({ length: DAY_MS / BUCKET_MS }, (_, index) => {
    const startAt = first + index * BUCKET_MS;
    const { succeeded: delivered = 0, failed = 0, dead = 0 } = known.get(startAt) ?? {};
    return { at: timeOf(startAt), delivered, failed, dead };
  });
}

export interface OverviewOptions {
  readonly database: Pick<Database, 'within'>;
  readonly configurations: Pick<Configurations, 'ofTenant'>;
  /** Limits the lists that the database runs at once. */
  readonly lists: Pick<ConcurrencyLimiter, 'run'>;
}

async function overview(tenantId: string, { database, configurations }: OverviewOptions) {
  const [now, runQuery] = [Date.now(), database.within(REQUEST_MS)];
  const webhooks = await configurations.ofTenant(tenantId);
  const [hour, series, episodes] = await Promise.all([
    findLastHour(runQuery, tenantId, now),
    findBuckets(runQuery, { tenantId, ref: WHOLE_TENANT, now }),
    findCurrent(runQuery, tenantId),
  ]);
  const [first = dayOf(now)] = [...episodes.values()].map((episode) => firstDayOf(episode, now)).sort();
  const totals = Map.groupBy(await findSums(runQuery, tenantId, first, dayOf(now)), ({ of }) => of);
  const data = webhooks
    .filter(({ eventType }) => isEventType(eventType))
    .map((webhook) => {
      const { ref } = webhook;
      const episode = episodes.get(ref);
      return {
        ...viewWebhook(webhook, hour.get(ref) ?? [], episode),
        ...(episode && viewEpisode(episode, totals.get(ref) ?? [], now)),
      };
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
