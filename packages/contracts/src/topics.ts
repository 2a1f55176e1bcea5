import { parseDuration } from './configuration/duration.js';

/**
 * Format of the records on all topics. It rises when an earlier version would misread them. Each commit of a consumer
 * group has it as metadata, and a data folder as a file. A service refuses to start with a group of another format.
 */
export const RECORD_FORMAT = '2';

/** Names of all topics. Services communicate only through these topics and public HTTP. */
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
  /** Milliseconds from the broker's append of a record until the record is handled. 0: when it is read. */
  readonly delayMs: number;
}

const DAY = 86_400_000;
const MIB = 1_048_576;
/** How long Kafka stores records that workers and query-api read without a delay. */
export const LIVE_RETENTION_MS = 7 * DAY;

/** The delays of the tiers, shortest first. */
const TIER_DELAYS = ['1s', '5s', '30s', '2m', '10m', '30m', '1h', '2h', '4h', '8h', '12h', '24h'];

/** The retry tiers, shortest first. Independent of the retry schedule: a changed schedule leaves no record behind. */
export const RETRY_TIERS: readonly RetryTier[] = TIER_DELAYS.map((name, index) => ({
  name,
  topic: `webhooks.retries.${name}`,
  // Tier `1s` is read at once, and the rest of the wait is spent in the worker's memory: otherwise it would end late.
  delayMs: index === 0 ? 0 : parseDuration(name),
}));

/** Returns the largest tier that is not longer than the wait. Waits below 5 s use the shortest tier. */
export function tierFor(waitMs: number): RetryTier {
  const fitting = RETRY_TIERS.findLast((tier) => tier.delayMs <= waitMs) ?? RETRY_TIERS[0];
  if (!fitting) throw new Error('the table of retry tiers is empty');
  return fitting;
}

/** Allowance for the time between a record's tiers: writing to a tier and reading from it. */
const TIER_MARGIN_MS = 250;
/** Most milliseconds that are added to a wait, besides the margins. */
const MAX_ADDED_MS = 500;
/** Most records of one tier that a wait may consist of. */
const MAX_WHOLE_TIERS = 4;

/**
 * Returns a wait that is a little longer, if it then consists of one to four records of one tier. Without this, 29.99 s
 * would take six records of `5s` instead of one of `30s`. It adds 0.5 s, and 250 ms for each record. All waits near a
 * tier get the same addition, so their order and distances stay. A wait that already fits, or fits no tier, is returned
 * unchanged.
 */
export function wholeTiers(waitMs: number): number {
  for (const { delayMs } of RETRY_TIERS.toReversed()) {
    const records = Math.ceil((waitMs - MAX_ADDED_MS) / delayMs);
    const isAllowed = records >= 1 && records <= MAX_WHOLE_TIERS;
    if (!isAllowed || records * delayMs > waitMs + MAX_ADDED_MS) continue;
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

const retainFor = (ms: number, maxMessageBytes: number): Record<string, string> => ({
  'cleanup.policy': 'delete',
  'retention.ms': String(ms),
  'max.message.bytes': String(maxMessageBytes),
  // A producer's clock must not decide how long a record is stored or when a retry is handled.
  'message.timestamp.type': 'LogAppendTime',
});

const COMPACTED: Record<string, string> = {
  'cleanup.policy': 'compact',
  'min.cleanable.dirty.ratio': '0.1',
  'segment.ms': String(DAY),
  // Only closed segments are compacted, and each worker reads every record of the open one.
  'segment.bytes': String(16 * MIB),
  'max.message.bytes': String(MIB),
};

/** All topics with their configuration. Every topic is created from this table. */
export const TOPIC_TABLE: readonly TopicSpec[] = [
  { name: TOPICS.events, partitions: 12, configs: retainFor(LIVE_RETENTION_MS, 4 * MIB) },
  { name: TOPICS.rejected, partitions: 3, configs: retainFor(30 * DAY, 16 * MIB) },
  { name: TOPICS.configurations, partitions: 4, configs: COMPACTED },
  { name: TOPICS.deliveries, partitions: 12, configs: retainFor(LIVE_RETENTION_MS, 4 * MIB) },
  { name: TOPICS.fanOuts, partitions: 12, configs: retainFor(LIVE_RETENTION_MS, 4 * MIB) },
  ...RETRY_TIERS.map((tier) => ({ name: tier.topic, partitions: 12, configs: retainFor(14 * DAY, 4 * MIB) })),
  { name: TOPICS.attempts, partitions: 12, configs: retainFor(LIVE_RETENTION_MS, 4 * MIB) },
  { name: TOPICS.deadLetters, partitions: 3, configs: retainFor(30 * DAY, 4 * MIB) },
];

/** Operations by Kafka's names in access rules. `Read` and `Write` include `Describe`. */
type TopicOperation = 'Read' | 'Write' | 'DescribeConfigs';

const allow = (topics: readonly string[], ...operations: TopicOperation[]) =>
  Object.fromEntries(topics.map((topic) => [topic, operations]));

const TIER_TOPICS = RETRY_TIERS.map(({ topic }) => topic);

/**
 * What each service does with topics. Besides, it reads consumer groups whose names begin with its `GROUP_PREFIX`, and
 * creates missing topics unless `TOPICS_CREATE=false`.
 */
export const TOPIC_ACCESS = {
  'config-api': allow([TOPICS.configurations], 'Read', 'Write', 'DescribeConfigs'),
  ingest: allow([TOPICS.events], 'Write'),
  'query-api': {
    ...allow([TOPICS.events, TOPICS.attempts, TOPICS.deadLetters], 'Read', 'DescribeConfigs'),
    ...allow([TOPICS.configurations], 'Read', 'DescribeConfigs'),
    ...allow([TOPICS.deliveries], 'Write'),
  },
  'delivery-worker': {
    ...allow([TOPICS.events, TOPICS.configurations, TOPICS.deliveries], 'Read', 'DescribeConfigs'),
    ...allow([TOPICS.fanOuts, ...TIER_TOPICS], 'Read', 'Write', 'DescribeConfigs'),
    ...allow([TOPICS.rejected, TOPICS.attempts, TOPICS.deadLetters], 'Write'),
  },
} as const satisfies Record<string, Readonly<Record<string, readonly TopicOperation[]>>>;
