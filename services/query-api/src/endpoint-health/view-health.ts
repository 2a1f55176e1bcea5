import { causeOf } from '@webhooks/contracts';
import type { KnownConfiguration } from '../configurations.js';
import type { Episode } from '../episodes/episode.js';
import { omitUndefined } from '../omit-undefined.js';
import {
  BUCKET_MS,
  DAY_MS,
  HOUR_MS,
  MAX_CLASSES,
  WARNING_MS,
  bucketStartOf,
  endOfBin,
} from './health-bucket.js';
import type { FailureCount, HealthBucket } from './health-bucket.js';

/**
 * `disabled`: nothing is sent, whatever the results of earlier attempts. `idle`: no attempt within a day, and no open
 * episode. `deferred`: deliveries wait because of a fault of the worker. `failing`: the last attempts failed. `paused`: as
 * `failing`, and the next attempts wait until `until`.
 */
type State = 'disabled' | 'idle' | 'healthy' | 'deferred' | 'failing' | 'paused';

/** Failures in a row from which an endpoint counts as failing; one without a success within a day fails from the first. */
const FAILING_AFTER = 3;

export const timeOf = (at: number): string => new Date(at).toISOString();

/** Percentiles are at most 10 % too high. The window begins at the start of a bucket. */
export function viewWindow(buckets: readonly HealthBucket[], from: number) {
  const recent = buckets.filter(({ startAt }) => startAt >= from);
  const succeeded = recent.reduce((sum, bucket) => sum + bucket.succeeded, 0);
  const attempts = recent.reduce((sum, bucket) => sum + bucket.failed, succeeded);
  if (attempts === 0) return { from: timeOf(from), attempts };
  const bins = recent.flatMap(({ durations }) => Object.entries(durations));
  bins.sort(([one], [other]) => Number(one) - Number(other));
  const percentile = (share: number): number => {
    let left = Math.ceil(attempts * share);
    const [bin] = bins.find(([, count]) => (left -= count) <= 0) ?? [];
    return Math.round(endOfBin(Number(bin)) * 10) / 10;
  };
  return {
    from: timeOf(from),
    attempts,
    successRate: Math.round((succeeded / attempts) * 10_000) / 10_000,
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
  };
}

/** Formats a time; undefined for 0. */
const knownTime = (at: number): string | undefined => (at > 0 ? timeOf(at) : undefined);

/** The latest known time; 0 when there is none. */
const latest = (times: readonly (number | undefined)[]): number =>
  Math.max(0, ...times.map((time) => time ?? 0));

/** What the health of an endpoint depends on, beside its attempts. */
interface HealthParts extends Pick<KnownConfiguration, 'enabled' | 'policy'> {
  /** The open episode, however old; absent when there is none. */
  readonly episode?: Episode | undefined;
}

/** Returns the state of an endpoint, with the times of the last success and failure. */
export function stateOf(buckets: readonly HealthBucket[], { enabled, episode }: HealthParts, now: number) {
  const lastSuccess = latest(buckets.map(({ lastSuccessAt }) => lastSuccessAt));
  const lastFailure = latest(buckets.map(({ lastFailureAt }) => lastFailureAt));
  const times = omitUndefined({
    lastSuccessAt: knownTime(lastSuccess),
    lastFailureAt: knownTime(lastFailure),
  });
  const view = (state: State, failing: { readonly until?: string; readonly failingSince?: string } = {}) => ({
    state,
    ...failing,
    ...times,
  });
  if (!enabled) return view('disabled');
  if (!episode || (episode.attempts < FAILING_AFTER && lastSuccess > 0)) {
    const isDeferred = latest(buckets.map(({ faultAt }) => faultAt)) > lastSuccess;
    const state = Math.max(lastSuccess, lastFailure) === 0 ? 'idle' : 'healthy';
    return view(isDeferred ? 'deferred' : state);
  }
  const failingSince = timeOf(episode.first.at);
  // What was deferred before the episode waited for an earlier breaker, perhaps at another address.
  const since = buckets.filter(({ deferredAt = 0 }) => deferredAt >= episode.first.at);
  const until = latest(since.map(({ deferredUntil }) => deferredUntil));
  return until > now
    ? view('paused', { until: timeOf(until), failingSince })
    : view('failing', { failingSince });
}

/** Shows a failure by its name, which `kindOf` made: a status, or a class and a code. */
function viewFailure(name: string, { count, lastAt }: FailureCount) {
  const [kind = '', ...rest] = name.split('/');
  const code = rest.length === 0 ? undefined : rest.join('/');
  const cause = causeOf(/^\d{3}$/.test(kind) ? { status: Number(kind) } : { error: kind, code });
  return { class: kind, ...omitUndefined({ code, cause }), count, lastAt: timeOf(lastAt) };
}

/** Returns the failures of all buckets, the latest first, at most `MAX_CLASSES`. */
function failuresOf(buckets: readonly HealthBucket[]) {
  const all = new Map<string, FailureCount>();
  for (const [name, { count, lastAt }] of buckets.flatMap(({ failures }) => Object.entries(failures))) {
    const known = all.get(name);
    all.set(name, { count: count + (known?.count ?? 0), lastAt: Math.max(lastAt, known?.lastAt ?? 0) });
  }
  return [...all]
    .sort(([, a], [, b]) => b.lastAt - a.lastAt)
    .slice(0, MAX_CLASSES)
    .map(([name, counted]) => viewFailure(name, counted));
}

/** The health of an endpoint, from its buckets of the last day. */
export function viewHealth(ref: string, parts: HealthParts, buckets: readonly HealthBucket[], now: number) {
  const { policy } = parts;
  const { certificateNotAfter: end } = policy ?? {};
  const certificateEndsSoon = end === undefined ? undefined : Date.parse(end) < now + WARNING_MS;
  return {
    ref,
    ...stateOf(buckets, parts, now),
    ...omitUndefined({ policy, certificateEndsSoon }),
    lastHour: viewWindow(buckets, bucketStartOf(now - HOUR_MS + BUCKET_MS)),
    lastDay: viewWindow(buckets, bucketStartOf(now - DAY_MS + BUCKET_MS)),
    failures: failuresOf(buckets),
  };
}
