import type { UtcTime } from '@webhooks/contracts';
import { present } from '../payments/present.js';
import { BUCKET_MS, MAX_CLASSES, bucketStartOf, endOfBin } from './health-bucket.js';
import type { FailureCount, HealthBucket } from './health-bucket.js';

/**
 * `disabled`: nothing is sent to it, whatever its attempts came to before. `idle`: no attempt within a day. `paused`:
 * failing, and the next attempts wait until `until`.
 */
export type HealthState = 'disabled' | 'idle' | 'healthy' | 'failing' | 'paused';

export interface WindowView {
  /** Beginning of what is counted: the window reaches back to the start of a stretch of 10 minutes. */
  readonly from: UtcTime;
  readonly attempts: number;
  /** Share of them that was answered with 2xx, 0 to 1; absent when there was none. */
  readonly successRate?: number;
  /** Milliseconds, at most 10 % too high; absent when there was no attempt. */
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

export interface HealthView {
  readonly ref: string;
  readonly state: HealthState;
  readonly failingSince?: UtcTime;
  readonly until?: UtcTime;
  readonly lastSuccessAt?: UtcTime;
  readonly lastFailureAt?: UtcTime;
  readonly lastHour: WindowView;
  readonly lastDay: WindowView;
  /** The last day's failures by class, the latest first. */
  readonly failures: readonly { readonly class: string; readonly count: number; readonly lastAt: UtcTime }[];
  /** The oldest event that is under way or waits; absent when there is none. */
  readonly oldestUndelivered?: {
    readonly eventId: string;
    readonly deliveryId: string;
    readonly at: UtcTime;
  };
}

export const HOUR_MS = 6 * BUCKET_MS;
export const DAY_MS = 24 * HOUR_MS;
/** A single failure among successes is nothing to be told of. */
const FAILING_AFTER = 3;

function timeOf(at: number): UtcTime;
function timeOf(at: number | undefined): UtcTime | undefined;
function timeOf(at: number | undefined): UtcTime | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

function percentile(durations: ReadonlyMap<number, number>, share: number): number | undefined {
  const total = [...durations.values()].reduce((sum, count) => sum + count, 0);
  let left = Math.ceil(total * share);
  for (const [bin, count] of [...durations].sort(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return Math.round(endOfBin(bin) * 10) / 10;
  }
  return undefined;
}

function viewWindow(buckets: readonly HealthBucket[], from: number): WindowView {
  const durations = new Map<number, number>();
  let succeeded = 0;
  let attempts = 0;
  for (const bucket of buckets) {
    if (bucket.startAt < from) continue;
    succeeded += bucket.succeeded;
    attempts += bucket.succeeded + bucket.failed;
    for (const [bin, count] of Object.entries(bucket.durations))
      durations.set(Number(bin), (durations.get(Number(bin)) ?? 0) + count);
  }
  return present({
    from: timeOf(from),
    attempts,
    successRate: attempts === 0 ? undefined : Math.round((succeeded / attempts) * 10_000) / 10_000,
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
  });
}

const latest = (times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
};

/** Failures behind the last success of all buckets. */
function failingOf(buckets: readonly HealthBucket[], lastSuccessAt: number) {
  const behind = buckets.flatMap(({ failing }) =>
    failing && failing.since > lastSuccessAt ? [failing] : [],
  );
  return {
    inARow: behind.reduce((sum, { count }) => sum + count, 0),
    since: behind.length === 0 ? undefined : Math.min(...behind.map(({ since }) => since)),
  };
}

type StateView = Pick<HealthView, 'state' | 'failingSince' | 'until' | 'lastSuccessAt' | 'lastFailureAt'>;

/** Of what is disabled nothing fails now and nothing waits. */
function stateOf(buckets: readonly HealthBucket[], enabled: boolean, now: number): StateView {
  const lastSuccess = latest(buckets.map(({ lastSuccessAt }) => lastSuccessAt));
  const lastFailure = latest(buckets.map(({ lastFailureAt }) => lastFailureAt));
  const times = present({ lastSuccessAt: timeOf(lastSuccess), lastFailureAt: timeOf(lastFailure) });
  if (!enabled) return { state: 'disabled', ...times };
  if (lastSuccess === undefined && lastFailure === undefined) return { state: 'idle' };
  const { inARow, since } = failingOf(buckets, lastSuccess ?? -1);
  if (inARow < FAILING_AFTER) return { state: 'healthy', ...times };
  const failing = { ...present({ failingSince: timeOf(since) }), ...times };
  const until = latest(buckets.map(({ parkedUntil }) => parkedUntil)) ?? 0;
  return until > now
    ? { state: 'paused', until: timeOf(until), ...failing }
    : { state: 'failing', ...failing };
}

function failuresOf(buckets: readonly HealthBucket[]): HealthView['failures'] {
  const all = new Map<string, FailureCount>();
  for (const [name, { count, lastAt }] of buckets.flatMap(({ failures }) => Object.entries(failures))) {
    const known = all.get(name);
    all.set(name, { count: count + (known?.count ?? 0), lastAt: Math.max(lastAt, known?.lastAt ?? 0) });
  }
  return [...all]
    .sort(([, a], [, b]) => b.lastAt - a.lastAt)
    .slice(0, MAX_CLASSES)
    .map(([name, { count, lastAt }]) => ({ class: name, count, lastAt: timeOf(lastAt) }));
}

/** The health of an endpoint, out of its buckets of the last day. */
export function viewHealth(
  { ref, enabled }: { readonly ref: string; readonly enabled: boolean },
  buckets: readonly HealthBucket[],
  now: number,
): Omit<HealthView, 'oldestUndelivered'> {
  return {
    ref,
    ...stateOf(buckets, enabled, now),
    lastHour: viewWindow(buckets, bucketStartOf(now - HOUR_MS + BUCKET_MS)),
    lastDay: viewWindow(buckets, bucketStartOf(now - DAY_MS + BUCKET_MS)),
    failures: failuresOf(buckets),
  };
}
