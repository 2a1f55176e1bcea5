import { EVENT_TYPES, isEventType, PATTERNS } from '@webhooks/contracts';
import { invalidRequest, readQuery, wholeNumber } from '@webhooks/http-api';
import type { QueryParameters } from '@webhooks/http-api';
import { isPlace } from './delivery-model.js';
import type { DeliveryFilter, PageRequest } from './delivery-store.js';
import { DELIVERY_STATUSES } from './delivery.js';
import { parseTime } from '../request-parameters.js';

interface ListQuery {
  readonly filter: DeliveryFilter;
  readonly request: PageRequest;
}

const MAX_LIMIT = 200;
export const LIMIT = 50;

/** A cursor is the place of the last delivery of a page. */
export const cursorAfter = (place: string): string => `c${place}`;

/** Every text of this form is a place, so a well-formed cursor is never wrong. */
const parseCursor = (text: string): string | undefined =>
  text.startsWith('c') && isPlace(text.slice(1)) ? text.slice(1) : undefined;

const matching = (pattern: string, expected: string) => {
  const form = new RegExp(pattern, 'u');
  return { expected, parse: (text: string) => (form.test(text) ? text : undefined) };
};

const UUID = matching(PATTERNS.givenRef, 'must be a UUID');
const TIME = { expected: 'must be an RFC 3339 time in UTC', parse: parseTime } as const;

interface Parsed extends Required<DeliveryFilter> {
  readonly limit: number;
  readonly cursor: string;
}

export const LIST_PARAMETERS: QueryParameters<Parsed> = {
  ref: { ...UUID, parse: (text) => UUID.parse(text)?.toLowerCase() },
  eventId: matching(PATTERNS.eventId, 'must be 1 to 64 letters, digits, hyphens or underscores'),
  endToEndId: matching(PATTERNS.endToEndId, 'must be 32 letters and digits'),
  txId: matching(PATTERNS.anyTxId, 'must be 1 to 35 letters and digits'),
  eventType: {
    expected: `must be one of ${EVENT_TYPES.join(', ')}`,
    parse: (text) => (isEventType(text) ? text : undefined),
  },
  status: {
    expected: `must be one of ${DELIVERY_STATUSES.join(', ')}`,
    parse: (text) => DELIVERY_STATUSES.find((status) => status === text),
  },
  from: TIME,
  to: TIME,
  limit: wholeNumber(1, MAX_LIMIT),
  cursor: { expected: 'must be the nextCursor of a response', parse: parseCursor },
};

/**
 * Reads the query of the list operation. Throws 422 for a parameter that is unknown, repeated or malformed, and for
 * an empty time range.
 */
export function readListQuery(query: URLSearchParams): ListQuery {
  const { limit = LIMIT, cursor, ...filter } = readQuery(query, LIST_PARAMETERS);
  const { from, to } = filter;
  if (from && to && from >= to) throw invalidRequest([{ property: 'from', reason: 'must be before to' }]);
  return { filter, request: { order: 'newest-first', after: cursor, limit } };
}
