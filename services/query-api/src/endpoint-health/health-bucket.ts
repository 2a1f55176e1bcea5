import { cleanWord } from '@webhooks/contracts';
import type { AttemptLogEntry } from '@webhooks/contracts';

/** Failures of one kind, such as `503` or `TLS/CERT_HAS_EXPIRED`. */
export interface FailureCount {
  readonly count: number;
  readonly lastAt: number;
}

/** Counts of the attempts at one endpoint that started within ten minutes. Times are Unix milliseconds. */
export interface HealthBucket {
  readonly tenantId: string;
  readonly ref: string;
  readonly startAt: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Failures by status, or by class and code. Beyond `MAX_CLASSES` names, further names count as `OTHER`. */
  readonly failures: Readonly<Record<string, FailureCount>>;
  /** Attempts by the bin of their duration; see `binOf`. */
  readonly durations: Readonly<Record<string, number>>;
  readonly lastSuccessAt?: number;
  readonly lastFailureAt?: number;
  /** The latest time until which a delivery was deferred, and when one was last deferred. */
  readonly deferredUntil?: number;
  readonly deferredAt?: number;
  /** When a delivery was last deferred because of a fault of the worker. */
  readonly faultAt?: number;
  /** Deliveries that died. */
  readonly dead?: number;
}

export const BUCKET_MS = 10 * 60_000;
export const HOUR_MS = 6 * BUCKET_MS;
export const DAY_MS = 24 * HOUR_MS;
/** The same as in the worker's alert: enough time to issue a certificate. */
export const WARNING_MS = 30 * DAY_MS;
export const MAX_CLASSES = 20;
const OTHER = 'OTHER';
/** Each bin ends 10 % above the one before, so a percentile is at most 10 % too high. */
const BIN_GROWTH = 1.1;

/** The bin of a duration; the first one ends at 1 ms. */
export const binOf = (durationMs: number): number =>
  Math.max(0, Math.ceil(Math.log(Math.max(1, durationMs)) / Math.log(BIN_GROWTH) - 1e-9));

/** The longest duration of a bin, in milliseconds. */
export const endOfBin = (bin: number): number => BIN_GROWTH ** bin;

export const bucketStartOf = (at: number): number => at - (at % BUCKET_MS);

export const emptyBucket = ({ tenantId, ref, at }: AttemptLogEntry): HealthBucket => ({
  tenantId,
  ref,
  startAt: bucketStartOf(at),
  succeeded: 0,
  failed: 0,
  failures: {},
  durations: {},
});

const later = (one: number | undefined, other: number): number => Math.max(one ?? 0, other);

function countFailure(
  failures: HealthBucket['failures'],
  name: string,
  at: number,
): Readonly<Record<string, FailureCount>> {
  const known = Object.hasOwn(failures, name) || Object.keys(failures).length < MAX_CLASSES;
  const key = known ? name : OTHER;
  const before = Object.hasOwn(failures, key) ? failures[key] : undefined;
  return { ...failures, [key]: { count: (before?.count ?? 0) + 1, lastAt: later(before?.lastAt, at) } };
}

type Attempt = Extract<AttemptLogEntry, { readonly kind: 'attempt' }>;

/** Returns the name of a failure. It names a member in the database, so it contains no `.` and no `$`. */
function kindOf({ status, error, code }: Attempt): string {
  if (status !== undefined) return String(status);
  const name = cleanWord(error ?? OTHER);
  return code === undefined ? name : `${name}/${code}`;
}

/** Adds one entry to a bucket. */
export function addEntry(bucket: HealthBucket, entry: AttemptLogEntry): HealthBucket {
  if (entry.kind === 'deferred') {
    const deferredAt = later(bucket.deferredAt, entry.at);
    const deferred = { ...bucket, deferredUntil: later(bucket.deferredUntil, entry.nextAt), deferredAt };
    return entry.reason === 'fault' ? { ...deferred, faultAt: later(bucket.faultAt, entry.at) } : deferred;
  }
  if (entry.kind === 'dead') return { ...bucket, dead: (bucket.dead ?? 0) + 1 };
  if (entry.kind !== 'attempt') return bucket;
  const bin = String(binOf(entry.durationMs));
  const durations = { ...bucket.durations, [bin]: (bucket.durations[bin] ?? 0) + 1 };
  const { succeeded, failed, lastSuccessAt, lastFailureAt } = bucket;
  const timed = { ...bucket, durations };
  if (entry.result === 'delivered')
    return { ...timed, succeeded: succeeded + 1, lastSuccessAt: later(lastSuccessAt, entry.at) };
  const failures = countFailure(bucket.failures, kindOf(entry), entry.at);
  return { ...timed, failed: failed + 1, failures, lastFailureAt: later(lastFailureAt, entry.at) };
}
