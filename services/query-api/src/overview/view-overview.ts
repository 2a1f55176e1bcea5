import { causeOf } from '@webhooks/contracts';
import type { ConfigurationRow } from '../configurations.js';
import { BUCKET_MS, bucketStartOf } from '../endpoint-health/health-bucket.js';
import type { HealthBucket } from '../endpoint-health/health-bucket.js';
import { DAY_MS, stateOf, timeOf, viewWindow } from '../endpoint-health/view-health.js';
import type { Episode } from '../episodes/episode.js';
import { omitUndefined } from '../omit-undefined.js';
import { formatCents } from '../payments/view-transaction.js';
import { dayOf, NOTHING, plus } from '../statements/daily-totals.js';
import type { TotalsRow } from '../statements/daily-totals.js';

/** What is known of one webhook. */
export interface KnownWebhook {
  readonly webhook: ConfigurationRow;
  /** Its buckets of the last hour. */
  readonly buckets: readonly HealthBucket[];
  /** The open episode. */
  readonly episode?: Episode | undefined;
  /** Its sums by day, since `firstDayOf` the episode. */
  readonly days: ReadonlyMap<string, TotalsRow['sums']>;
}

/** A delivery waits for eight days at most, so days before change no more. */
const MAX_WAIT_MS = 8 * DAY_MS;

/** The first day of which the sums are read for an episode. */
export const firstDayOf = ({ first }: Episode, now: number): string =>
  dayOf(Math.max(first.at, now - MAX_WAIT_MS));

/**
 * Returns the events since the episode began that are not delivered. Of its first day only those that wait, because
 * others may have ended before. `atLeast`: there may be more.
 */
function viewUndelivered(episode: Episode, days: KnownWebhook['days'], now: number) {
  let sum = NOTHING;
  let atLeast = episode.first.at < now - MAX_WAIT_MS;
  for (const [day, { pending = NOTHING, dead = NOTHING, cancelled = NOTHING }] of days) {
    const ended = plus(dead, cancelled);
    const isFirst = day <= firstDayOf(episode, now);
    sum = plus(plus(sum, pending), isFirst ? NOTHING : ended);
    atLeast ||= isFirst && ended.events > 0;
  }
  return { events: sum.events, amount: formatCents(sum.cents), atLeast };
}

function viewFailure({ status, error, code }: Episode['last']) {
  return omitUndefined({
    class: String(status ?? error ?? ''),
    code,
    cause: causeOf({ status, error, code }),
  });
}

/** Shows one webhook. Its state is that of its health, except that `idle` means no attempt within the hour. */
export function viewWebhook({ webhook, buckets, episode, days }: KnownWebhook, now: number) {
  const { ref, eventType, endpointUrl, applicationId, enabled } = webhook;
  const { state, failingSince: since, until: nextProbeAt } = stateOf(buckets, { enabled, episode }, now);
  const { p95Ms } = viewWindow(buckets, 0);
  const delivered = buckets.reduce((sum, { succeeded }) => sum + succeeded, 0);
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
  return {
    ...{ ref, eventType, endpointUrl, enabled, ...omitUndefined({ applicationId }) },
    ...{ state, ...omitUndefined({ since, nextProbeAt }) },
    lastHour: { delivered, failed, ...omitUndefined({ p95Ms }) },
    ...(episode && {
      topFailure: viewFailure(episode.last),
      undelivered: viewUndelivered(episode, days, now),
    }),
  };
}

/** Shows a tenant's last day: one point for each ten minutes, the oldest first. */
export function viewSeries(buckets: readonly HealthBucket[], now: number) {
  const known = new Map(buckets.map((bucket) => [bucket.startAt, bucket]));
  const first = bucketStartOf(now - DAY_MS + BUCKET_MS);
  return Array.from({ length: DAY_MS / BUCKET_MS }, (_, index) => {
    const startAt = first + index * BUCKET_MS;
    const { succeeded: delivered = 0, failed = 0, dead = 0 } = known.get(startAt) ?? {};
    return { at: timeOf(startAt), delivered, failed, dead };
  });
}
