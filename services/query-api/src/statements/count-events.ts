import type { EventRow } from '../payments/event-store.js';
import { ACCEPTED } from './daily-totals.js';
import type { Counted } from './daily-totals.js';

const factOf = (row: EventRow, topic: string, sign: 1 | -1): Counted => ({
  ...{ partition: `${topic}-${row.partition}`, offset: row.offset ?? 0 },
  ...{ tenantId: row.tenantId, of: row.eventType, cents: row.cents, adds: { [ACCEPTED]: sign } },
  acceptedAt: Number(row.appendedAt),
});

/** What a record of `payments.events` adds to the totals, whether it repeats an event or not. */
export const toAccepted = (row: EventRow): Counted => factOf(row, 'events', 1);

/** What a record that repeats an event takes away again. It has offsets of its own, because another projection counts it. */
export const toRepeat = (row: EventRow): Counted => factOf(row, 'repeats', -1);
