import { openSecret, sealSecret } from '@webhooks/contracts';
import type { EventType, Keyring } from '@webhooks/contracts';
import type { EndOffsets } from '@webhooks/kafka';
import { readUpTo } from '../documents.js';
import { orderBy } from '../order.js';
import { idOf } from './event-store.js';
import type { RunEventQuery, EventRow } from './event-store.js';
import { MAX_EVENTS } from './find-events.js';

/** The position of a chain of pages. */
export interface PullCursor {
  /** The rebuild generation of these positions. */
  readonly generation: string;
  /** When the chain had last read everything, Unix milliseconds. All unread events were written later. */
  readonly caughtUpAt: number;
  /** The partition with which the next page begins. Pages begin with each partition in turn. */
  readonly first: number;
  /** For each partition, the offset below which everything was read; default 0. */
  readonly offsets: EndOffsets;
}

const RADIX = 36;
/** Digits of every number in a cursor: enough for 36^10, 3.6 × 10^15. */
const DIGITS = 10;
/** The form of a cursor that release 0.2.0 promised to callers. Because of it, the sealed cursor is written in hex. */
export const CURSOR = /^[0-9a-z]{1,10}(\.[0-9a-z]{1,10})+$/;

/**
 * Formats `generation.caughtUpAt.first.offset0.offset1…`, with one offset for each partition. All numbers have the same
 * length.
 */
export function formatCursor({ generation, caughtUpAt, first, offsets }: PullCursor): string {
  const length = Math.max(-1, ...offsets.keys()) + 1;
  const inOrder = Array.from({ length }, (_, partition) => offsets.get(partition) ?? 0);
  const numbers = [caughtUpAt, first, ...inOrder];
  return [generation, ...numbers.map((number) => number.toString(RADIX).padStart(DIGITS, '0'))].join('.');
}

/** Parses a text that `formatCursor` made. */
export function parseCursor(text: string): PullCursor {
  const [generation = '', ...numbers] = text.split('.');
  const [caughtUpAt = 0, first = 0, ...offsets] = numbers.map((number) => Number.parseInt(number, RADIX));
  return { generation, caughtUpAt, first, offsets: new Map(offsets.entries()) };
}

/** Returns a cursor as its tenant receives it. It is sealed, because offsets count the events of all tenants. */
export const sealCursor = (ring: Keyring, cursor: PullCursor, tenantId: string): string =>
  Buffer.from(sealSecret(ring, formatCursor(cursor), tenantId))
    .toString('hex')
    .replace(/.{10}\B/g, '$&.');

/** Opens a sealed cursor. Returns undefined for text that was not sealed for this tenant with one of these keys. */
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
  /** True when more events are projected than the chain has read. */
  readonly hasMore: boolean;
}

export interface PullRequest {
  readonly tenantId: string;
  /** Absent: all types. */
  readonly eventType?: EventType;
  readonly limit: number;
}

/** A time (Unix milliseconds), and the offsets below which everything was projected at that time. */
export interface Projected {
  readonly at: number;
  readonly ends: EndOffsets;
  /** Pages that were read up to these offsets, by request and cursor. */
  readonly pages: Map<string, Promise<PullPage>>;
}

/**
 * Up to nine events share one position: one more each time the topic is recreated within their retention. So a page has
 * up to eight elements beyond its limit. A tenth event is skipped.
 */
export const MAX_SHARING = 8;
const SHOWN = { eventType: 1, body: 1, offset: 1 } as const;
type ShownRow = Pick<EventRow, '_id' | 'eventType' | 'body'> & { readonly offset: number };

/** Returns the projected and unread offsets of each partition, beginning with the partition `first`. */
function rangesOf({ first, offsets }: PullCursor, ends: EndOffsets) {
  const ranges = [...ends]
    .map(([partition, end]) => ({ partition, offset: { $gte: offsets.get(partition) ?? 0, $lt: end } }))
    .filter(({ offset: { $gte: from, $lt: end } }) => from < end)
    .sort(orderBy(({ partition }) => partition));
  const behind = ranges.filter(({ partition }) => partition < first);
  return [...ranges.slice(behind.length), ...behind];
}

const find = (runQuery: RunEventQuery, range: object, limit: number): Promise<readonly ShownRow[]> =>
  runQuery(({ events }) => readUpTo(events.find(range, SHOWN).sort({ offset: 1 }), limit));

/** Shows a notification as it was rendered: about 700 characters at most. */
const show = (row: ShownRow) => ({
  id: idOf(row._id),
  eventType: row.eventType,
  body: row.body.toString(),
});

/**
 * Reads the next page of a chain.
 *
 * No event is skipped but in the cases below. The position of a document never changes: it is that of the record that
 * was applied first. A page passes a position only when it is projected. So the record there was applied, and its event
 * has a document. That document is at this position, or at another one that a page of the chain has passed or will pass.
 *
 * A recreated topic begins again at offset 0, so one position can have several documents. A page never ends between
 * them. Documents of the earlier topic are shown when the new topic has passed their positions. An event is not shown
 * when its document appears at a position that was already passed. Two cases cause this: only its dead letter was read,
 * or another instance still wrote records of the earlier topic.
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
