import { openSecret, sealSecret } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
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
/** Of every number, and of each part of a cursor as its caller gets it: below 2^53. */
const DIGITS = 10;
/** The form of a cursor for callers, which need not know more. Release 0.2.0 promised it, so what is sealed is spelled in hex. */
export const CURSOR = /^[0-9a-z]{1,10}(\.[0-9a-z]{1,10})+$/;

/** `reading.caughtUpAt.first.offset of partition 0.of partition 1…`, as long whatever the numbers are. */
export function formatCursor({ reading, caughtUpAt, first, offsets }: PullCursor): string {
  const length = Math.max(-1, ...offsets.keys()) + 1;
  const inOrder = Array.from({ length }, (_, partition) => offsets.get(partition) ?? 0);
  const numbers = [caughtUpAt, first, ...inOrder];
  return [reading, ...numbers.map((number) => number.toString(RADIX).padStart(DIGITS, '0'))].join('.');
}

export function parseCursor(text: string): PullCursor {
  const [reading = '', ...numbers] = text.split('.');
  const [caughtUpAt = 0, first = 0, ...offsets] = numbers.map((number) => Number.parseInt(number, RADIX));
  return { reading, caughtUpAt, first, offsets: new Map(offsets.entries()) };
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
