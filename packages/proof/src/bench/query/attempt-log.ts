import { EVENT_TYPES, MAX_PACK_ENTRIES, TOPICS, deliveryIdOf, encodeAttemptPack } from '@webhooks/contracts';
import type { AttemptLogEntry, EventType } from '@webhooks/contracts';
import { batchesOf, openProducer } from '@webhooks/testkit/account';

/** Plans the delivery log of one tenant, with deliveries spread evenly over a time range. */
export interface LogPlan {
  readonly tenantId: string;
  readonly deliveries: number;
  /** The `ref` of each endpoint; `typeOfEndpoint` returns its event type. */
  readonly refs: readonly string[];
  /** Time of the first attempt, and the latest time of any attempt; Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

/**
 * One delivery in 11 needs a second attempt and one in 49 is dead. Neither number has a factor in common with 20, the number of endpoints,
 * so each endpoint has some.
 */
const RETRIED = 11;
const DEAD = 49;
/**
 * Number of deliveries between a first and a second attempt. The second one is then mostly in another pack, so a document has to be
 * replaced.
 */
const RETRIED_AFTER = 10_000;
/** Number of the only attempt in the log of a dead delivery. Its earlier attempts are older than the log. */
const LAST_ATTEMPT = 13;

/** Returns the event type of the endpoint at this index. Endpoints have the types in turn. */
export const typeOfEndpoint = (index: number): EventType =>
  EVENT_TYPES[index % EVENT_TYPES.length] ?? 'PIX_OUT';

const timeOf = ({ from, to, deliveries }: LogPlan, index: number): number =>
  Math.min(to, Math.floor(from + ((to - from) * index) / deliveries));

/** Returns delivery `index` (from 0) of the plan, with its state in the log. */
export function plannedDelivery(plan: LogPlan, index: number) {
  const endpoint = index % plan.refs.length;
  const ref = plan.refs[endpoint] ?? '';
  // As long as the id that ingest derives. New in each run, because an external database (`MONGODB_URI`) still holds the deliveries of the
  // last one.
  const eventId = `evt_${plan.from}_${String(index).padStart(38, '0')}`;
  const isDead = index % DEAD === DEAD - 1;
  return {
    deliveryId: deliveryIdOf(plan.tenantId, ref, eventId),
    ref,
    eventId,
    eventType: typeOfEndpoint(endpoint),
    /** Unix milliseconds. */
    createdAt: timeOf(plan, index),
    status: isDead ? 'dead' : 'delivered',
    /** Number of attempts in the log. */
    attempts: !isDead && index % RETRIED === RETRIED - 1 ? 2 : 1,
  } as const;
}
export type PlannedDelivery = ReturnType<typeof plannedDelivery>;

/** Returns the log entries of one delivery. */
function entriesOf(plan: LogPlan, index: number): readonly AttemptLogEntry[] {
  const { createdAt, status, attempts, ...known } = plannedDelivery(plan, index);
  const shared = {
    ...known,
    cycle: '0',
    tenantId: plan.tenantId,
    revision: 1,
    source: { topic: TOPICS.events, partition: index % 12, offset: String(index) },
  };
  const attempt = (number: number, at: number) =>
    ({ kind: 'attempt', ...shared, attempt: number, at, durationMs: 5 + (index % 90) }) as const;
  const failed = { result: 'failed', status: 503 } as const;
  const delivered = { result: 'delivered', status: 200 } as const;
  if (status === 'dead')
    return [
      { ...attempt(LAST_ATTEMPT, createdAt), ...failed },
      { kind: 'dead', ...shared, attempt: LAST_ATTEMPT, at: createdAt, reason: 'attempts-exhausted' },
    ];
  if (attempts === 1) return [{ ...attempt(1, createdAt), ...delivered }];
  const nextAt = timeOf(plan, index + RETRIED_AFTER);
  return [
    { ...attempt(1, createdAt), ...failed, nextAt },
    { ...attempt(2, nextAt), ...delivered },
  ];
}

/** Builds the log entries of the plan's deliveries, ordered by time. The same plan always gives the same log. */
export const makeLog = (plan: LogPlan): readonly AttemptLogEntry[] =>
  Array.from({ length: plan.deliveries }, (_, index) => entriesOf(plan, index))
    .flat()
    .sort((left, right) => left.at - right.at);

/** Packs in one request: about 120 KB each, over 12 partitions, whose batches may have 4 MiB. */
const PACKS_AT_ONCE = 24;

/** Writes a log to the topic in full packs, as workers at their limit do. */
export async function fillLog(brokers: readonly string[], log: readonly AttemptLogEntry[]): Promise<void> {
  const producer = await openProducer(brokers, 'bench-log', TOPICS.attempts);
  try {
    const packs = [...batchesOf(log, MAX_PACK_ENTRIES)].map((entries, pack) => ({
      // A running number spreads packs over the partitions, as the worker's keys do.
      key: String(pack),
      value: encodeAttemptPack(entries),
    }));
    for (const messages of batchesOf(packs, PACKS_AT_ONCE)) await producer.send(messages);
  } finally {
    await producer.close();
  }
}
