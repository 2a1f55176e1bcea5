import { deliveryIdOf } from '@webhooks/contracts';
import type { AttemptLogEntry, EventType, RecordOrigin } from '@webhooks/contracts';

/** Deliveries of one tenant, evenly over some time, as workers would tell of them. */
export interface LogPlan {
  readonly tenantId: string;
  /** Even: each event goes to two endpoints. */
  readonly deliveries: number;
  /** In pairs: both of a pair get the same events, and have the same type. */
  readonly endpoints: readonly { readonly ref: string; readonly eventType: EventType }[];
  /** First attempt of the first delivery, and the time by which everything has happened; Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** A delivery of the plan, and what the log has to say of it. */
export interface PlannedDelivery {
  readonly deliveryId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: EventType;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly status: 'delivered' | 'dead';
  /** How many attempts are known. */
  readonly attempts: number;
}

/** One delivery in 11 needs a second attempt and one in 49 is dead: no multiples of 20, so that each endpoint has some. */
const RETRIED = 11;
const DEAD = 49;
/** So many deliveries make so many attempts: of 539 are 48 attempted twice (one of the 49 is dead). */
const CYCLE = RETRIED * DEAD;
const CYCLE_ATTEMPTS = CYCLE + DEAD - 1;
/**
 * Deliveries until the second attempt: those of 5 s at 2,000 a second. It then comes in another batch than the first one
 * did, mostly, and the document that the first one made has to be read and replaced.
 */
const RETRIED_AFTER = 10_000;
/** What was attempted before it died is older than the log. */
const LAST_ATTEMPT = 13;

type Fate = 'delivered' | 'retried' | 'dead';

function fateOf(index: number): Fate {
  if (index % DEAD === DEAD - 1) return 'dead';
  return index % RETRIED === RETRIED - 1 ? 'retried' : 'delivered';
}

/** How many deliveries make about so many attempts. */
export const deliveriesFor = (attempts: number): number =>
  2 * Math.max(1, Math.round((attempts * CYCLE) / CYCLE_ATTEMPTS / 2));

/** What the log has to hold. */
export interface LogTotals {
  readonly attempts: number;
  readonly delivered: number;
  readonly dead: number;
}

export function totalsOf(deliveries: number): LogTotals {
  let [retried, dead] = [0, 0];
  for (let index = 0; index < deliveries; index += 1) {
    const fate = fateOf(index);
    if (fate === 'retried') retried += 1;
    else if (fate === 'dead') dead += 1;
  }
  return { attempts: deliveries + retried, delivered: deliveries - dead, dead };
}

const timeOf = ({ from, to, deliveries }: LogPlan, index: number): number =>
  Math.min(to, Math.floor(from + ((to - from) * index) / deliveries));

/** Delivery `index` (from 0) of the plan. */
export function plannedDelivery(plan: LogPlan, index: number): PlannedDelivery {
  const { tenantId, endpoints } = plan;
  const event = Math.floor(index / 2);
  const endpoint = endpoints[(2 * event + (index % 2)) % endpoints.length];
  if (!endpoint) throw new Error('expected endpoints in pairs');
  const { ref, eventType } = endpoint;
  // As long as the id that ingest makes of a fact; of its own in each run, for a database by address remembers the last one.
  const eventId = `evt_${plan.from}_${String(event).padStart(38, '0')}`;
  const fate = fateOf(index);
  return {
    deliveryId: deliveryIdOf(tenantId, ref, eventId),
    ref,
    eventId,
    eventType,
    createdAt: timeOf(plan, index),
    status: fate === 'dead' ? 'dead' : 'delivered',
    attempts: fate === 'retried' ? 2 : 1,
  };
}

/** The entries of one delivery's attempts. */
function createEntries(plan: LogPlan, index: number) {
  const { deliveryId, ref, eventId, eventType, createdAt } = plannedDelivery(plan, index);
  const source: RecordOrigin = { topic: 'payments.events', partition: index % 12, offset: String(index) };
  const shared = {
    deliveryId,
    cycle: '0',
    eventId,
    eventType,
    tenantId: plan.tenantId,
    ref,
    revision: 1,
    source,
  };
  const attempt = (number: number, at: number) =>
    ({ kind: 'attempt', ...shared, attempt: number, at, durationMs: 5 + (index % 90) }) as const;
  const retryAt = timeOf(plan, index + RETRIED_AFTER);
  return {
    succeeds: (): AttemptLogEntry => ({ ...attempt(1, createdAt), result: 'delivered', status: 200 }),
    fails: (): AttemptLogEntry => ({
      ...attempt(1, createdAt),
      result: 'failed',
      status: 503,
      nextAt: retryAt,
    }),
    succeedsThen: (): AttemptLogEntry => ({ ...attempt(2, retryAt), result: 'delivered', status: 200 }),
    dies: (): readonly AttemptLogEntry[] => [
      { ...attempt(LAST_ATTEMPT, createdAt), result: 'failed', status: 503 },
      { kind: 'dead', ...shared, attempt: LAST_ATTEMPT, at: createdAt, reason: 'attempts-exhausted' },
    ],
  };
}

/** What workers would tell of the plan's deliveries, in the order of time; the same for the same plan. */
export function* makeLog(plan: LogPlan): Generator<AttemptLogEntry> {
  const { deliveries } = plan;
  for (let index = 0; index < deliveries + RETRIED_AFTER; index += 1) {
    const earlier = index - RETRIED_AFTER;
    if (earlier >= 0 && earlier < deliveries && fateOf(earlier) === 'retried')
      yield createEntries(plan, earlier).succeedsThen();
    if (index >= deliveries) continue;
    const entries = createEntries(plan, index);
    const fate = fateOf(index);
    if (fate === 'dead') yield* entries.dies();
    else yield fate === 'retried' ? entries.fails() : entries.succeeds();
  }
}
