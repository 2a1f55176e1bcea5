import { EVENT_TYPES, MAX_PACK_ENTRIES, TOPICS, deliveryIdOf, encodeAttemptPack } from '@webhooks/contracts';
import type { AttemptLogEntry, EventType } from '@webhooks/contracts';
import { batchesOf, openProducer } from '@webhooks/testkit/account';

/** Deliveries of one tenant, evenly over some time, as workers would log them. */
export interface LogPlan {
  readonly tenantId: string;
  readonly deliveries: number;
  /** Of each endpoint the `ref`; they have the types of `typeOfEndpoint`. */
  readonly refs: readonly string[];
  /** First attempt of the first delivery, and the time by which everything has happened; Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** One delivery in 11 needs a second attempt and one in 49 is dead: no multiples of 20, so that each endpoint has some. */
const RETRIED = 11;
const DEAD = 49;
/** Deliveries until the second attempt. It then mostly comes in another pack, and a document has to be replaced. */
const RETRIED_AFTER = 10_000;
/** What was attempted before a delivery died is older than the log. */
const LAST_ATTEMPT = 13;

/** Endpoints of a log take turns in what they are registered for. */
export const typeOfEndpoint = (index: number): EventType =>
  EVENT_TYPES[index % EVENT_TYPES.length] ?? 'PIX_OUT';

const timeOf = ({ from, to, deliveries }: LogPlan, index: number): number =>
  Math.min(to, Math.floor(from + ((to - from) * index) / deliveries));

/** Delivery `index` (from 0) of the plan, and what the log says of it. */
export function plannedDelivery(plan: LogPlan, index: number) {
  const endpoint = index % plan.refs.length;
  const ref = plan.refs[endpoint] ?? '';
  // As long as the id that ingest makes of a fact. Each run has its own: a database of MONGODB_URI remembers the last one.
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
    /** How many attempts are known. */
    attempts: !isDead && index % RETRIED === RETRIED - 1 ? 2 : 1,
  } as const;
}
export type PlannedDelivery = ReturnType<typeof plannedDelivery>;

/** What its attempts put into the log. */
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

/** What workers would log of the plan's deliveries, in the order of time; the same for the same plan. */
export const makeLog = (plan: LogPlan): readonly AttemptLogEntry[] =>
  Array.from({ length: plan.deliveries }, (_, index) => entriesOf(plan, index))
    .flat()
    .sort((left, right) => left.at - right.at);

/** Packs of one request: some 120 KB each, over 12 partitions, whose batches may have 4 MiB. */
const PACKS_AT_ONCE = 24;

/** Writes a log to the topic in full packs, as workers at their limit do. */
export async function fillLog(brokers: readonly string[], log: readonly AttemptLogEntry[]): Promise<void> {
  const producer = await openProducer(brokers, 'bench-log', TOPICS.attempts);
  try {
    const packs = [...batchesOf(log, MAX_PACK_ENTRIES)].map((entries, pack) => ({
      // A running number spreads packs over the partitions, as a worker's does.
      key: String(pack),
      value: encodeAttemptPack(entries),
    }));
    for (const messages of batchesOf(packs, PACKS_AT_ONCE)) await producer.send(messages);
  } finally {
    await producer.close();
  }
}
