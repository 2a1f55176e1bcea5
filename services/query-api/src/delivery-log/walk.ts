import type { PlaceRange } from './access-path.js';
import { after } from './place.js';

export type Direction = 'newest-first' | 'oldest-first';

/** Windows are half as large again as a page needs that is as dense as the window before, and grow 16 times at most. */
const MARGIN = 1.5;
const MAX_GROWTH = 16;
/** Milestones of the largest window: a million deliveries, whose index entries a database counts in milliseconds. */
const MAX_COUNT = 32_768;

export interface WalkPorts<R extends { readonly place: string }> {
  /** At most `limit` rows of a range, in the direction of the walk. */
  readonly read: (range: PlaceRange, limit: number) => Promise<readonly R[]>;
  /** A place some `count` milestones into a range in the direction of the walk; undefined when it has fewer. */
  readonly milestone: (range: PlaceRange, count: number) => Promise<string | undefined>;
  /** Milestones of the first window, from 1. */
  readonly firstCount: number;
  /** Rows that are wanted still; 0 ends the walk. */
  readonly want: () => number;
  readonly take: (rows: readonly R[]) => void;
}

/** The part of a range from where a walk begins to a place, inclusive; all of it without a place. */
export const cut = ({ low, high }: PlaceRange, direction: Direction, end: string | undefined): PlaceRange => {
  if (end === undefined) return { low, high };
  return direction === 'newest-first' ? { low: end, high } : { low, high: after(end) };
};

/** What is left behind the last row, or behind the whole window when all of it was read. */
const restOf = (
  left: PlaceRange,
  direction: Direction,
  end: { readonly window: PlaceRange; readonly last: string | undefined },
): PlaceRange =>
  direction === 'newest-first'
    ? { low: left.low, high: end.last ?? end.window.low }
    : { low: end.last === undefined ? end.window.high : after(end.last), high: left.high };

/** Milestones of the next window, when `missing` rows are wanted still for each that the last one held. */
const resize = (count: number, missing: number): number =>
  Math.min(Math.ceil(count * Math.min(missing * MARGIN, MAX_GROWTH)), MAX_COUNT);

/**
 * Reads a range from one of its ends until enough is taken, in windows of so many deliveries: a database that
 * loads every match before it sorts loads little, however dense or far away the matches lie, and one that walks its index
 * pays for one short statement more. Resolves with whether the range is at its end.
 */
export async function walk<R extends { readonly place: string }>(
  range: PlaceRange,
  direction: Direction,
  { read, milestone, firstCount, want, take }: WalkPorts<R>,
): Promise<boolean> {
  let left = range;
  let count = firstCount;
  while (left.low < left.high) {
    const limit = want();
    if (limit <= 0) return false;
    const window = cut(left, direction, await milestone(left, count));
    const rows = await read(window, limit);
    take(rows);
    const isFull = rows.length >= limit;
    const next = resize(count, want() / rows.length);
    // A window that was not read to its end was large enough for so many.
    count = isFull ? Math.min(count, next) : next;
    left = restOf(left, direction, { window, last: isFull ? rows.at(-1)?.place : undefined });
  }
  return true;
}
