import { EVENT_TYPES, PATTERNS } from '@webhooks/contracts';
import { invalidRequest, matching, oneOf, readQuery, wholeNumber } from '@webhooks/http-api';
import type { QueryParameter } from '@webhooks/http-api';
import { DELIVERY_STATUSES } from './delivery-state.js';
import { isPlace } from '../documents.js';
import { parseTime } from '../request-parameters.js';

const MAX_LIMIT = 200;
export const LIMIT = 50;

/** A cursor is the place of the last document of a page. */
export const cursorAfter = (place: string): string => `c${place}`;

/**
 * Makes the parameter `cursor` of a list by place. `id`: the form of an id. Every well-formed cursor is valid, because
 * any place may begin a page.
 */
export const cursorOf = (id: RegExp): QueryParameter<string> => ({
  expected: 'must be the nextCursor of a response',
  parse: (text) => (text.startsWith('c') && isPlace(text.slice(1), id) ? text.slice(1) : undefined),
});

const UUID = matching(PATTERNS.givenRef, 'must be a UUID');
const TIME = { expected: 'must be an RFC 3339 time in UTC', parse: parseTime } as const;

export const LIST_PARAMETERS = {
  ref: { ...UUID, parse: (text: string) => UUID.parse(text)?.toLowerCase() },
  eventId: matching(PATTERNS.eventId, 'must be 1 to 64 letters, digits, hyphens or underscores'),
  endToEndId: matching(PATTERNS.endToEndId, 'must be 32 letters and digits'),
  txId: matching(PATTERNS.anyTxId, 'must be 1 to 35 letters and digits'),
  eventType: oneOf(EVENT_TYPES),
  status: oneOf(DELIVERY_STATUSES),
  from: TIME,
  to: TIME,
  limit: wholeNumber(1, MAX_LIMIT),
  cursor: cursorOf(/^[a-z2-7]{52}$/),
};

/**
 * Reads the query of the list operation. Throws 422 for a parameter that is unknown, repeated or malformed, and for
 * an empty time range.
 */
export function readListQuery(query: URLSearchParams) {
  const { limit = LIMIT, cursor, ...filter } = readQuery(query, LIST_PARAMETERS);
  const { from, to } = filter;
  if (from && to && from >= to) throw invalidRequest([{ property: 'from', reason: 'must be before to' }]);
  return { filter, request: { order: 'newest-first', after: cursor, limit } as const };
}
