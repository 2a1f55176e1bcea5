import { parseDuration } from './configuration/duration.js';

/**
 * Format of the records on all topics. It rises when an earlier service would misread them. Consumer groups and data folders
 * carry it. A service refuses another format at its start.
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
  /** A record of this tier is looked at this long after the broker appended it, milliseconds. 0: as soon as it is read. */
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

/** Time that a record may lose on its way into a tier and out of it, and still fit the next tier. */
const TIER_MARGIN_MS = 250;
/** How much longer a wait may become, besides the margins, and of how many records it may then consist. */
const MAX_ADDED_MS = 500;
const MAX_WHOLE_TIERS = 4;

/**
 * Lengthens a wait a little when it then consists of one to four records of one tier. Without this, 29.99 s would take six records
 * of `5s` instead of one of `30s`. It adds 0.5 s and 250 ms for each record, the same to all waits near a tier, so waits keep their
 * distances. A wait that fits already, or fits no tier, is returned as it is.
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
