import { openSecret, sealSecret } from '@webhooks/contracts';
import type { EventType, Keyring } from '@webhooks/contracts';
import type { EndOffsets } from '@webhooks/kafka';
import { byNumber } from '../order.js';
import { idOf } from './event-store.js';
import type { RunEventQuery, EventRow } from './event-store.js';
import { MAX_EVENTS } from './find-events.js';

/** Where a chain of pages stands. */
export interface PullCursor {
  /** The reading whose positions these are. */
  readonly generation: string;
  /** When the chain had last read everything (Unix ms): what it has not read was written later. */
  readonly caughtUpAt: number;
  /** The partition that the next page begins with: pages take from all of them in turn. */
  readonly first: number;
  /** By partition, the offset below which everything was read; 0 for a partition that is not there. */
  readonly offsets: EndOffsets;
}

const RADIX = 36;
/** Of every number, and of each part of a cursor as its caller gets it: below 2^53. */
const DIGITS = 10;
/** The form of a cursor for callers, which need not know more. Release 0.2.0 promised it, so what is sealed is spelled in hex. */
export const CURSOR = /^[0-9a-z]{1,10}(\.[0-9a-z]{1,10})+$/;

/** `reading.caughtUpAt.first.offset of partition 0.of partition 1…`, as long whatever the numbers are. */
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

/** A cursor as its tenant gets it: sealed, because offsets count the events of all tenants. */
export const sealCursor = (ring: Keyring, cursor: PullCursor, tenantId: string): string =>
  Buffer.from(sealSecret(ring, formatCursor(cursor), tenantId))
    .toString('hex')
    .replace(/.{10}\B/g, '$&.');

/** Undefined for what was not sealed for this tenant with this key. */
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
  /** Whether reading ended before everything was read that is projected. */
  readonly hasMore: boolean;
}

export interface PullRequest {
  readonly tenantId: string;
  /** Absent: all. */
  readonly eventType?: EventType;
  readonly limit: number;
}

/** A moment, and below which offsets all was projected then. */
export interface Projected {
  readonly at: number;
  readonly ends: EndOffsets;
  /** Those that were read with it, by wish and cursor. */
  readonly pages: Map<string, Promise<PullPage>>;
}

/**
 * Up to nine events lie at one place: one more each time the topic is made anew, or loses its end, within their retention. A page
 * has up to eight elements more than its limit then; a tenth event is skipped.
 */
export const MAX_SHARING = 8;
const SHOWN = { eventType: 1, body: 1, offset: 1 } as const;
type ShownRow = Pick<EventRow, '_id' | 'eventType' | 'body'> & { readonly offset: number };

/** What of each partition was not read and is projected, from the partition that it is the turn of. */
function rangesOf({ first, offsets }: PullCursor, ends: EndOffsets) {
  const ranges = [...ends]
    .map(([partition, end]) => ({ partition, offset: { $gte: offsets.get(partition) ?? 0, $lt: end } }))
    .filter(({ offset: { $gte: from, $lt: end } }) => from < end)
    .sort(byNumber(({ partition }) => partition));
  const behind = ranges.filter(({ partition }) => partition < first);
  return [...ranges.slice(behind.length), ...behind];
}

/** By one scan of the index. */
const find = (runQuery: RunEventQuery, range: object, limit: number): Promise<readonly ShownRow[]> =>
  runQuery(({ events }) =>
    events
      .find(range, SHOWN)
      .sort({ offset: 1 })
      .limit(limit)
      // All in one answer: the driver asks for 101 and then for the rest.
      .batchSize(limit + 1)
      .lean<ShownRow[]>()
      .exec(),
  );

/** A notification as it was rendered: the text whose bytes are signed has about 700 characters at most. */
const show = (row: ShownRow) => ({
  id: idOf(row._id),
  eventType: row.eventType,
  body: row.body.toString(),
});

/**
 * The next page of a chain.
 *
 * No event is skipped. A document keeps one place for ever, that of the record that was applied first. A page passes a place
 * only below the positions that were written, so the record there was applied, and the event has its document by then. It lies
 * there, and this page shows it; or at another place, and the page that passes that one does. Applying a record again inserts
 * nothing.
 *
 * Documents of an earlier topic, before that was made anew, keep their places too. A place has more of them then, and no page
 * ends between these. They are shown when the new topic has passed their places; those of a partition that it has not are not.
 * Nor is one that comes to a place that was passed: by its dead letter alone, or by an instance that writes of the earlier topic.
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
