import { setTimeout as rest } from 'node:timers/promises';
import { deliveryIdOf } from '@webhooks/contracts';
import type { Database } from '../database.js';
import { findOpen } from '../delivery-log/delivery-documents.js';
import { deliveryStoreWithin } from '../delivery-log/delivery-store.js';
import type { DeliveryCount, DeliveryFilter, PageRequest } from '../delivery-log/delivery-store.js';
import { MAX_STATEMENT } from '../documents.js';
import { findBodies, idOf, keyOf } from '../payments/event-store.js';
import type { EventRow as Row } from '../payments/event-store.js';
import { omitUndefined } from '../omit-undefined.js';
import type { RedeliveryFilter, RedeliveryJob } from './redelivery-store.js';
import type { PastDelivery } from './redelivery-task.js';

/** A delivery that a job may send. */
export interface Candidate extends PastDelivery {
  /** Its latest cycle; absent when there was none. */
  readonly cycle?: string;
  /** Undefined when it is not kept any more. */
  readonly body: Buffer | undefined;
}

export interface CandidatePage {
  readonly candidates: readonly Candidate[];
  /** The next page begins after this place; absent on the last page. */
  readonly next?: string | undefined;
}

type Wanted = Pick<RedeliveryJob, 'tenantId' | 'filter' | 'position'>;

export interface PageParts {
  readonly database: Pick<Database, 'within'>;
  /** How long notifications are kept, milliseconds. */
  readonly keptMs: number;
  /** How long deliveries are kept. Whether an older event was missed is not known. */
  readonly loggedMs: number;
}

/** Deadline for a count, and for each half of reading a page. A caller gives up after 10 s. */
const LONG_MS = 8_000;
/** Time after which counting ends; the database may end its statement late. */
const BUDGET_MS = LONG_MS / 2;

/** Deliveries in the log that match now, oldest first. */
async function loggedPage(
  tenantId: string,
  filter: DeliveryFilter,
  request: PageRequest,
  { database, keptMs }: PageParts,
): Promise<CandidatePage> {
  const { rows, next } = await deliveryStoreWithin(database, LONG_MS).page(tenantId, filter, request);
  const eventIds = [...new Set(rows.map(({ eventId }) => eventId))];
  const bodies = await findBodies(database.within(LONG_MS), tenantId, eventIds, keptMs);
  const candidates = rows.map(({ deliveryId, ref, eventId, eventType, state: { cycle } }) => ({
    ...{ deliveryId, tenantId, ref, eventId, eventType, cycle },
    body: bodies.get(eventId),
  }));
  return { candidates, next };
}

/** Events of one type in the order in which they were appended, behind a place made of the last one's time and id. */
function rangeOf({ tenantId, filter: { eventType, from, to }, position }: Wanted) {
  const range = { tenantId, ...omitUndefined({ eventType }), appendedAt: { $gte: from, $lt: to } };
  const [, time, lastId] = /^(\d+) (.*)$/s.exec(position ?? '') ?? [];
  if (lastId === undefined) return range;
  const last = new Date(Number(time));
  const behind = { $or: [{ appendedAt: { $gt: last } }, { _id: { $gt: lastId } }] };
  return { ...range, appendedAt: { $gte: last, $lt: to }, ...behind };
}

/**
 * Events of the webhook's type that have no delivery to it and will not get one. `only`: fields to read, when no body
 * is needed.
 */
async function missedPage(wanted: Wanted, limit: number, parts: PageParts, only = {}) {
  const { tenantId, filter } = wanted;
  // By `appendedAt`: a dead letter of one webhook prolongs the event, but not its deliveries to others.
  const keptFrom = Date.now() - Math.min(parts.keptMs, parts.loggedMs);
  const runQuery = parts.database.within(LONG_MS);
  const rows = await runQuery(({ events }) =>
    events.find(rangeOf(wanted), only).sort({ appendedAt: 1, _id: 1 }).limit(limit).lean<Row[]>().exec(),
  );
  const ref = filter.ref ?? '';
  const candidates = rows.map((row): Candidate => {
    const eventId = idOf(row._id);
    const deliveryId = deliveryIdOf(tenantId, ref, eventId);
    const body = Number(row.appendedAt) > keptFrom ? Buffer.from(row.body.value()) : undefined;
    return { deliveryId, tenantId, ref, eventId, eventType: row.eventType, body };
  });
  const ids = candidates.map(({ deliveryId }) => deliveryId);
  // Before the deliveries: a fan-out that has ended by now has its deliveries in the log.
  const open = await findOpen(
    runQuery,
    rows.map(({ _id }) => _id),
  );
  const made = await runQuery(({ deliveries }) => deliveries.distinct('_id', { _id: { $in: ids } }).exec());
  const known = new Set(made);
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    candidates: candidates.filter(
      ({ deliveryId, eventId }) => !known.has(deliveryId) && !open.has(keyOf(tenantId, eventId)),
    ),
    next: last && `${last.appendedAt?.getTime()} ${last._id}`,
  };
}

/** The next page of a job. It can be short or empty although others follow. */
export function readJobPage(job: Wanted, limit: number, parts: PageParts): Promise<CandidatePage> {
  const { status, ...filter } = job.filter;
  if (status === 'missed') return missedPage(job, limit, parts);
  const request = { order: 'oldest-first', after: job.position, limit } as const;
  return loggedPage(job.tenantId, { ...filter, status }, request, parts);
}

/** Counts the matches, to `max` at most, and no longer than a caller waits. */
export async function countMatches(
  tenantId: string,
  { status, ...filter }: RedeliveryFilter,
  max: number,
  parts: PageParts,
): Promise<DeliveryCount> {
  if (status !== 'missed') {
    const { count } = deliveryStoreWithin(parts.database, LONG_MS);
    return count(tenantId, { ...filter, status }, max, BUDGET_MS);
  }
  const endAt = performance.now() + BUDGET_MS;
  let matched = 0;
  let position: string | undefined;
  do {
    const beganAt = performance.now();
    const wanted = { tenantId, filter: { ...filter, status }, ...(position ? { position } : {}) };
    const page = await missedPage(wanted, MAX_STATEMENT, { ...parts, keptMs: 0 }, { appendedAt: 1 });
    matched += page.candidates.length;
    position = page.next;
    // A pause as long as the page took leaves half of the database's time to others.
    if (position !== undefined) await rest(performance.now() - beganAt);
  } while (position !== undefined && matched < max && performance.now() < endAt);
  return { matched, isLowerBound: position !== undefined };
}
