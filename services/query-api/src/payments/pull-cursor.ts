import type { EndOffsets } from '@webhooks/kafka';

/** Where a chain of pages stands. */
export interface PullCursor {
  /** The reading whose positions these are. */
  readonly reading: string;
  /** When the chain had last read everything (Unix ms): what it has not read was written later. */
  readonly caughtUpAt: number;
  /** The partition that the next page begins with: pages take from all of them in turn. */
  readonly first: number;
  /** By partition, the offset below which everything was read; 0 for a partition that is not there. */
  readonly offsets: EndOffsets;
}

const RADIX = 36;
/** Ten digits are below 2^53. */
const CURSOR = /^[0-9a-z]{1,10}(\.[0-9a-z]{1,10})+$/;

/** `reading.caughtUpAt.first.offset of partition 0.of partition 1…`; callers need not know. */
export function formatCursor({ reading, caughtUpAt, first, offsets }: PullCursor): string {
  const length = Math.max(-1, ...offsets.keys()) + 1;
  const inOrder = Array.from({ length }, (_, partition) => offsets.get(partition) ?? 0);
  return [reading, ...[caughtUpAt, first, ...inOrder].map((number) => number.toString(RADIX))].join('.');
}

/** Every text of this form is a cursor, maybe of another reading. */
export function parseCursor(text: string): PullCursor | undefined {
  if (!CURSOR.test(text)) return undefined;
  const [reading = '', ...numbers] = text.split('.');
  const [caughtUpAt = 0, first = 0, ...offsets] = numbers.map((number) => Number.parseInt(number, RADIX));
  return { reading, caughtUpAt, first, offsets: new Map(offsets.entries()) };
}
