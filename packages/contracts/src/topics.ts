import { parseDuration } from './configuration/duration.js';

/**
 * Format of the records on all topics. It rises when a service of before would misread them. Consumer groups and data folders
 * carry it, and a service refuses another one at its start.
 */
export const RECORD_FORMAT = '2';

/** Names of all topics. Services meet only here and through public HTTP. */
export const TOPICS = {
  events: 'payments.events',
  rejected: 'payments.events.rejected',
  configurations: 'webhooks.configurations',
  deliveries: 'webhooks.deliveries',
  fanOuts: 'webhooks.fan-outs',
  attempts: 'webhooks.attempts',
  deadLetters: 'webhooks.dead-letters',
} as const;

export interface RetryTier {
  readonly name: string;
  readonly topic: string;
  /** How long after the broker appended it a record of this tier is looked at, in milliseconds; 0: as soon as it is read. */
  readonly delayMs: number;
}

const DAY = 86_400_000;
const MIB = 1_048_576;
/** How long Kafka keeps what workers and query-api read at once. */
export const LIVE_RETENTION_MS = 7 * DAY;

/** The delays after which the tiers look at a record, shortest first. */
const TIER_DELAYS = ['1s', '5s', '30s', '2m', '10m', '30m', '1h', '2h', '4h', '8h', '12h', '24h'];

/** Shortest first. Fixed and independent of the retry schedule, so that a changed schedule strands nothing. */
export const RETRY_TIERS: readonly RetryTier[] = TIER_DELAYS.map((name, index) => ({
  name,
  topic: `webhooks.retries.${name}`,
  // What rests below 5 s waits in the worker's memory: looked at later, a wait below a second would end late.
  delayMs: index === 0 ? 0 : parseDuration(name),
}));

/** The largest tier that is not longer than the wait; waits under 5 s use the shortest. */
export function tierFor(waitMs: number): RetryTier {
  const fitting = RETRY_TIERS.findLast((tier) => tier.delayMs <= waitMs) ?? RETRY_TIERS[0];
  if (!fitting) throw new Error('the table of retry tiers is empty');
  return fitting;
}

/** What a record may lose on its way into a tier and out of it, and still fit the next one. */
const TIER_MARGIN_MS = 250;
/** So much longer a wait may be, and the margins, for so many records. */
const MAX_ADDED_MS = 500;
const MAX_WHOLE_TIERS = 4;

/**
 * A wait that may as well be a little longer, as one of up to four whole tiers: 30 s as `30s` and not, because it is 29.99 s
 * by then, as six records of `5s`. Longer by 0.5 s and 250 ms for each record, all that are near alike, so that waits a
 * little apart stay so; the wait itself where it fits, or nothing does.
 */
export function wholeTiers(waitMs: number): number {
  for (const { delayMs } of RETRY_TIERS.toReversed()) {
    const records = Math.ceil((waitMs - MAX_ADDED_MS) / delayMs);
    const isSome = records >= 1 && records <= MAX_WHOLE_TIERS;
    if (!isSome || records * delayMs > waitMs + MAX_ADDED_MS) continue;
    const marginMs = records * TIER_MARGIN_MS;
    return waitMs >= records * delayMs + marginMs ? waitMs : waitMs + MAX_ADDED_MS + marginMs;
  }
  return waitMs;
}

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** Kafka topic configuration, as text, by Kafka's own names. */
  readonly configs: Readonly<Record<string, string>>;
}

const kept = (ms: number, maxMessageBytes: number): Record<string, string> => ({
  'cleanup.policy': 'delete',
  'retention.ms': String(ms),
  'max.message.bytes': String(maxMessageBytes),
  // A producer's clock must not decide how long a record is kept or when a retry is looked at.
  'message.timestamp.type': 'LogAppendTime',
});

const COMPACTED: Record<string, string> = {
  'cleanup.policy': 'compact',
  'min.cleanable.dirty.ratio': '0.1',
  'segment.ms': String(DAY),
  // Only whole segments are compacted, and each worker reads all that is not.
  'segment.bytes': String(16 * MIB),
  'max.message.bytes': String(MIB),
};

/** The one table from which every topic is created. */
export const TOPIC_TABLE: readonly TopicSpec[] = [
  { name: TOPICS.events, partitions: 12, configs: kept(LIVE_RETENTION_MS, 4 * MIB) },
  { name: TOPICS.rejected, partitions: 3, configs: kept(30 * DAY, 16 * MIB) },
  { name: TOPICS.configurations, partitions: 4, configs: COMPACTED },
  { name: TOPICS.deliveries, partitions: 12, configs: kept(LIVE_RETENTION_MS, 4 * MIB) },
  { name: TOPICS.fanOuts, partitions: 12, configs: kept(LIVE_RETENTION_MS, 4 * MIB) },
  ...RETRY_TIERS.map((tier) => ({ name: tier.topic, partitions: 12, configs: kept(14 * DAY, 4 * MIB) })),
  { name: TOPICS.attempts, partitions: 12, configs: kept(LIVE_RETENTION_MS, 4 * MIB) },
  { name: TOPICS.deadLetters, partitions: 3, configs: kept(30 * DAY, 4 * MIB) },
];
