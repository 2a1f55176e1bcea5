import { readRow } from './event-model.js';
import type { EventRow } from './event-model.js';
import type { AskEvents } from './event-store.js';
import { mergeEvents } from './merge-events.js';
import type { Transaction } from './merge-events.js';

/** Events that an answer is made of, at most. */
export const MAX_EVENTS = 1_000;

/** Events of a tenant, one more than an answer is made of. */
const find = (ask: AskEvents, filter: object): Promise<readonly EventRow[]> =>
  ask(({ events }) =>
    events
      .find(filter)
      .limit(MAX_EVENTS + 1)
      .lean<EventRow[]>()
      .exec(),
  );

/** What documents tell of each Pix that they name. */
export function mergeRows(rows: readonly EventRow[]): readonly Transaction[] {
  const byPix = Map.groupBy(rows.slice(0, MAX_EVENTS), ({ endToEndId }) => endToEndId);
  const isCut = rows.length > MAX_EVENTS;
  return [...byPix].map(([endToEndId, some]) => mergeEvents(endToEndId, some.map(readRow), isCut));
}

/** What is known of one Pix of a tenant. */
export async function findTransaction(
  ask: AskEvents,
  tenantId: string,
  endToEndId: string,
): Promise<Transaction | undefined> {
  return mergeRows(await find(ask, { tenantId, endToEndId }))[0];
}

/** What is known of each Pix that an event of this charge names, be it told with the charge or without. */
export async function findOfCharge(
  ask: AskEvents,
  tenantId: string,
  txId: string,
): Promise<readonly Transaction[]> {
  const naming = await find(ask, { tenantId, txId });
  if (naming.length === 0) return [];
  const endToEndIds = [...new Set(naming.map(({ endToEndId }) => endToEndId))];
  // Those that were found are among them: when they were too many, these are.
  return mergeRows(await find(ask, { tenantId, endToEndId: { $in: endToEndIds } }));
}
