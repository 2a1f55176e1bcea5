import { invalidRequest } from '@webhooks/http-api';
import { idOf, keyOf, readRow } from './event-model.js';
import type { EventRow } from './event-model.js';
import type { AskEvents } from './event-store.js';
import { mergeEvents } from './merge-events.js';
import type { Transaction } from './merge-events.js';

/** Events that an answer is made of, at most: 0.7 MB. */
export const MAX_EVENTS = 1_000;
/** Keys of one statement: 0.04 s of the embedded database, which needs 2.7 s for 1,000 of them. */
export const MAX_KEYS = 100;
const TOO_MANY = `is that of more than ${MAX_EVENTS} events: ask by eventId alone`;

/** Events that are kept by one of these keys: one more than an answer is made of, at most. */
export type FindByKey = (keys: readonly string[]) => Promise<readonly EventRow[]>;

/** Events that fit, one more than an answer is made of. */
export const findEvents = (ask: AskEvents, filter: object): Promise<readonly EventRow[]> =>
  ask(({ events }) =>
    events
      .find(filter)
      .limit(MAX_EVENTS + 1)
      .lean<EventRow[]>()
      .exec(),
  );

/** What documents tell of each Pix that they name. */
export function mergeRows(rows: readonly EventRow[]): readonly Transaction[] {
  const byPix = Map.groupBy(rows.slice(0, MAX_EVENTS), ({ pix }) => pix);
  const isCut = rows.length > MAX_EVENTS;
  return [...byPix].map(([pix, some]) => mergeEvents(idOf(pix), some.map(readRow), isCut));
}

/** Of the events that name a charge those of its Pix, be they told with the charge or without. */
export async function findOfCharge(byPix: FindByKey, naming: readonly EventRow[]) {
  const keys = [...new Set(naming.map(({ pix }) => pix))];
  const rows: EventRow[] = [];
  // Those that were found are among them: when they were too many, these are.
  for (let from = 0; from < keys.length && rows.length <= MAX_EVENTS; from += MAX_KEYS)
    rows.push(...(await byPix(keys.slice(from, from + MAX_KEYS))));
  return rows;
}

/** What names the payments of a tenant: one Pix, the Pix of a charge, or one Pix of a charge. */
export interface PaymentKeys {
  readonly endToEndId: string | undefined;
  readonly txId: string | undefined;
}

/** Ids of the events of payments. Throws 422 when they are more than 1,000: which of them are the newest is not known. */
export async function findEventIds(
  ask: AskEvents,
  tenantId: string,
  { endToEndId, txId }: PaymentKeys,
): Promise<readonly string[]> {
  const byPix: FindByKey = (keys) => findEvents(ask, { pix: { $in: keys } });
  const charge = keyOf(tenantId, txId ?? '');
  const rows =
    endToEndId === undefined
      ? await findOfCharge(byPix, await findEvents(ask, { charge }))
      : await byPix([keyOf(tenantId, endToEndId)]);
  if (rows.length > MAX_EVENTS)
    throw invalidRequest([{ property: endToEndId ? 'endToEndId' : 'txId', reason: TOO_MANY }]);
  const isNamed = endToEndId === undefined || txId === undefined || rows.some((row) => row.charge === charge);
  return isNamed ? rows.map(({ _id }) => idOf(_id)) : [];
}
