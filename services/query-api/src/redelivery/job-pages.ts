import { setTimeout as rest } from 'node:timers/promises';
import { deliveryIdOf, TEST_EVENT } from '@webhooks/contracts';
import type { Database } from '../database.js';
import { findOpen } from '../delivery-log/delivery-documents.js';
import { deliveryStoreWithin } from '../delivery-log/delivery-store.js';
import type { DeliveryCount, DeliveryFilter, PageRequest } from '../delivery-log/delivery-store.js';
import { MAX_STATEMENT } from '../documents.js';
import { bodyOf, findByIds, idOf, keyOf } from '../payments/event-store.js';
import type { EventRow as Row } from '../payments/event-store.js';
import { omitUndefined } from '../omit-undefined.js';
import type { RedeliveryFilter, RedeliveryJob } from './redelivery-store.js';
import type { PastDelivery } from './redelivery-task.js';

/** A delivery that a job may send. */
export interface Candidate extends PastDelivery {
  /** The latest cycle; absent for an event that has no delivery. */
  readonly cycle?: string;
  /** The notification; undefined when it is no longer stored. */
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
  /** How long notifications are stored, in milliseconds. */
  readonly retentionMs: number;
  /** How long deliveries are stored, in milliseconds. For an older event it is unknown whether it was missed. */
  readonly logRetentionMs: number;
}

/** Deadline of a count, and of each of the two reads of a page. A caller stops waiting after 10 s. */
const LONG_MS = 8_000;
/** Time after which counting ends. The database may end its statement later. */
const BUDGET_MS = LONG_MS / 2;

/** Returns the deliveries in the log that match now, oldest first. */
async function loggedPage(
  tenantId: string,
  filter: DeliveryFilter,
  request: PageRequest,
  { database, retentionMs }: PageParts,
): Promise<CandidatePage> {
  const { rows, next } = await deliveryStoreWithin(database, LONG_MS).page(tenantId, filter, request);
  const eventIds = rows.map(({ eventId }) => eventId);
  const events = await findByIds(database.within(LONG_MS), tenantId, eventIds);
  const candidates = rows.map(({ deliveryId, ref, eventId, eventType, acceptedAt, state: { cycle } }) => {
    const event = events.get(eventId);
    const body = event && bodyOf(event, retentionMs);
    return { deliveryId, tenantId, ref, eventId, eventType, acceptedAt, cycle, body };
  });
  return { candidates, next };
}

/** Selects the events of one type after `position`: the time and the id of the last event of the page before. */
function rangeOf({ tenantId, filter: { eventType, from, to }, position }: Wanted) {
  const range = { tenantId, ...omitUndefined({ eventType }), appendedAt: { $gte: from, $lt: to } };
  const [, time, lastId] = /^(\d+) (.*)$/s.exec(position ?? '') ?? [];
  if (lastId === undefined) return range;
  const last = new Date(Number(time));
  const behind = { $or: [{ appendedAt: { $gt: last } }, { _id: { $gt: lastId } }] };
  return { ...range, appendedAt: { $gte: last, $lt: to }, ...behind };
}

/**
 * Returns the events of the webhook's type that have no delivery to it and will not get one, without tests: nobody missed a
 * payment. `only`: the fields to read; default: all.
 */
async function missedPage(wanted: Wanted, limit: number, parts: PageParts, only = {}) {
  const { tenantId, filter } = wanted;
  // By `appendedAt`, not `heardAt`: a dead letter of one webhook prolongs the event, but no delivery to another
  // webhook.
  const keptFrom = Date.now() - Math.min(parts.retentionMs, parts.logRetentionMs);
  const runQuery = parts.database.within(LONG_MS);
  const rows = await runQuery(({ events }) =>
    events.find(rangeOf(wanted), only).sort({ appendedAt: 1, _id: 1 }).limit(limit).lean<Row[]>().exec(),
  );
  const ref = filter.ref ?? '';
  const candidates = rows.map((row): Candidate => {
    const eventId = idOf(row._id);
    const deliveryId = deliveryIdOf(tenantId, ref, eventId);
    const [eventType, acceptedAt] = [row.eventType, Number(row.appendedAt)];
    const body = acceptedAt > keptFrom ? Buffer.from(row.body.value()) : undefined;
    return { deliveryId, tenantId, ref, eventId, eventType, acceptedAt, body };
  });
  const ids = candidates.map(({ deliveryId }) => deliveryId);
  // Read before the deliveries: when a fan-out has ended by now, all its deliveries are in the log.
  const open = await findOpen(
    runQuery,
    rows.map(({ _id }) => _id),
  );
  const made = await runQuery(({ deliveries }) => deliveries.distinct('_id', { _id: { $in: ids } }).exec());
  const known = new Set(made);
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    candidates: candidates.filter(
      ({ deliveryId, eventId }) =>
        !known.has(deliveryId) && !open.has(keyOf(tenantId, eventId)) && !eventId.startsWith(TEST_EVENT),
    ),
    next: last && `${last.appendedAt?.getTime()} ${last._id}`,
  };
}

/** Returns the next page of a job. A page can be short or empty although others follow. */
export function readJobPage(job: Wanted, limit: number, parts: PageParts): Promise<CandidatePage> {
  const { status, ...filter } = job.filter;
  if (status === 'missed') return missedPage(job, limit, parts);
  const request = { order: 'oldest-first', after: job.position, limit } as const;
  return loggedPage(job.tenantId, { ...filter, status }, request, parts);
}

/** Counts the matches, up to `max` and for about 4 s. `isLowerBound`: counting ended early. */
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
  // The last page, too, ends before its caller gives up.
  const within = () => parts.database.within(endAt + BUDGET_MS - performance.now());
  let matched = 0;
  let position: string | undefined;
  do {
    const beganAt = performance.now();
    const wanted = { tenantId, filter: { ...filter, status }, ...(position ? { position } : {}) };
    const page = await missedPage(
      wanted,
      MAX_STATEMENT,
      { ...parts, database: { within }, retentionMs: 0 },
      { appendedAt: 1 },
    );
    matched += page.candidates.length;
    position = page.next;
    // A pause as long as the page took leaves half of the database's time to others.
    const now = performance.now();
    if (position !== undefined) await rest(Math.max(0, Math.min(now - beganAt, endAt - now)));
  } while (position !== undefined && matched < max && performance.now() < endAt);
  return { matched, isLowerBound: position !== undefined };
}
