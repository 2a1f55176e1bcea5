import { openSecret, sealSecret } from '@webhooks/contracts';
import type { EventType, Keyring } from '@webhooks/contracts';
import type { EndOffsets } from '@webhooks/kafka';
import { by } from '../order.js';
import { idOf } from './event-store.js';
import type { RunEventQuery, EventRow } from './event-store.js';
import { MAX_EVENTS } from './find-events.js';

/** The position of a chain of pages. */
export interface PullCursor {
  /** The rebuild generation of these positions. */
  readonly generation: string;
  /** When the chain had last read everything, Unix milliseconds. What it has not read was written later. */
  readonly caughtUpAt: number;
  /** The partition with which the next page begins: pages begin with each in turn. */
  readonly first: number;
  /** By partition, the offset below which everything was read; default 0. */
  readonly offsets: EndOffsets;
}

const RADIX = 36;
/** Digits of every number in a cursor: enough for 2^53. */
const DIGITS = 10;
/** The form of a cursor for callers, as release 0.2.0 promised it. So the sealed cursor is written in hex. */
export const CURSOR = /^[0-9a-z]{1,10}(\.[0-9a-z]{1,10})+$/;

/**
 * `generation.caughtUpAt.first.offset of partition 0.of partition 1…`, with a length that does not depend on the
 * numbers.
 */
export function formatCursor({ generation, caughtUpAt, first, offsets }: PullCursor): string {
  const length = Math.max(-1, ...offsets.keys()) + 1;
  const inOrder = Array.from({ length }, (_, partition) => offsets.get(partition) ?? 0);
  const numbers = [caughtUpAt, first, ...inOrder];
  return [generation, ...numbers.map((number) => number.toString(RADIX).padStart(DIGITS, '0'))].join('.');
}

export function parseCursor(text: string): PullCursor {
  const [generation = '', ...numbers] = text.split('.');
  const [caughtUpAt = 0, first = 0, ...offsets] = numbers.map((number) => Number.parseInt(number, RADIX));
  return { generation, caughtUpAt, first, offsets: new Map(offsets.entries()) };
}

/** A cursor as its tenant gets it. It is sealed, because offsets count the events of all tenants. */
export const sealCursor = (ring: Keyring, cursor: PullCursor, tenantId: string): string =>
  Buffer.from(sealSecret(ring, formatCursor(cursor), tenantId))
    .toString('hex')
    .replace(/.{10}\B/g, '$&.');

/** Undefined for text that was not sealed for this tenant with this key. */
export function openCursor(ring: Keyring, text: string, tenantId: string): PullCursor | undefined {
  try {
    const sealed = Buffer.from(text.replaceAll('.', ''), 'hex').toString();
    return parseCursor(openSecret(ring, sealed, tenantId));
  } catch {
    return undefined;
  }
}

export interface PullPage {
  readonly data: readonly ReturnType<typeof show>[];
  readonly next: PullCursor;
  /** More is projected than the chain has read. */
  readonly hasMore: boolean;
}

export interface PullRequest {
  readonly tenantId: string;
  /** Absent: all. */
  readonly eventType?: EventType;
  readonly limit: number;
}

/** A moment, and the offsets below which everything was projected then. */
export interface Projected {
  readonly at: number;
  readonly ends: EndOffsets;
  /** Pages that were read with it, by request and cursor. */
  readonly pages: Map<string, Promise<PullPage>>;
}

/**
 * Up to nine events lie at one place: one more each time the topic is made anew within their retention. So a page has
 * up to eight elements beyond its limit. A tenth event is skipped.
 */
export const MAX_SHARING = 8;
const SHOWN = { eventType: 1, body: 1, offset: 1 } as const;
type ShownRow = Pick<EventRow, '_id' | 'eventType' | 'body'> & { readonly offset: number };

/** The unread and projected offsets of each partition, from the partition whose turn it is. */
function rangesOf({ first, offsets }: PullCursor, ends: EndOffsets) {
  const ranges = [...ends]
    .map(([partition, end]) => ({ partition, offset: { $gte: offsets.get(partition) ?? 0, $lt: end } }))
    .filter(({ offset: { $gte: from, $lt: end } }) => from < end)
    .sort(by(({ partition }) => partition));
  const behind = ranges.filter(({ partition }) => partition < first);
  return [...ranges.slice(behind.length), ...behind];
}

const find = (runQuery: RunEventQuery, range: object, limit: number): Promise<readonly ShownRow[]> =>
  runQuery(({ events }) =>
    events
      .find(range, SHOWN)
      .sort({ offset: 1 })
      .limit(limit)
      // All in one reply; the driver would fetch 101 and then the rest.
      .batchSize(limit + 1)
      .lean<ShownRow[]>()
      .exec(),
  );

/** A notification as it was rendered: about 700 characters at most. */
const show = (row: ShownRow) => ({
  id: idOf(row._id),
  eventType: row.eventType,
  body: row.body.toString(),
});

/**
 * Reads the next page of a chain.
 *
 * No event is skipped. A document keeps one place for ever, that of the record that was applied first. A page passes
 * a place only below the written positions, so the record there was applied, and its event has a document. That lies
 * at this place, or at another one that a page passes later.
 *
 * A topic that is made anew begins again at offset 0, so one place can hold several documents. A page never ends
 * between them. Documents of the earlier topic are shown when the new topic has passed their places. An event is not
 * shown when its document appears at a place that was passed already. That can happen by its dead letter alone, or by
 * an instance that still writes of the earlier topic.
 */
export async function readPage(
  runQuery: RunEventQuery,
  { tenantId, eventType, limit }: PullRequest,
  cursor: PullCursor,
  { ends, at }: Projected,
): Promise<PullPage> {
  const data: ReturnType<typeof show>[] = [];
  const offsets = new Map(cursor.offsets);
  const isWanted = (row: ShownRow): boolean => eventType === undefined || row.eventType === eventType;
  let left = eventType === undefined ? limit : MAX_EVENTS;
  for (const range of rangesOf(cursor, ends)) {
    const rows = await find(runQuery, { tenantId, ...range }, left + MAX_SHARING);
    for (const [offset, sharing] of Map.groupBy(rows, (row) => row.offset)) {
      data.push(...sharing.filter(isWanted).map(show));
      offsets.set(range.partition, offset + 1);
      left -= sharing.length;
      if (left <= 0 || data.length >= limit)
        return { data, next: { ...cursor, first: range.partition + 1, offsets }, hasMore: true };
    }
    offsets.set(range.partition, range.offset.$lt);
  }
  return { data, next: { ...cursor, caughtUpAt: at, first: 0, offsets }, hasMore: false };
}
