import { EVENT_TYPES, PATTERNS, isEventType } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import { readQuery, wholeNumber } from '@webhooks/http-api';
import type { QueryParameters } from '@webhooks/http-api';
import { toListed } from './configuration.js';
import type { Configuration } from './configuration.js';

interface ListFilter {
  readonly eventType?: EventType;
  readonly applicationId?: string;
  readonly enabled?: boolean;
  readonly ref?: string;
}

export interface ListQuery {
  readonly filter: ListFilter;
  /** The page begins after this position. */
  readonly after: number;
  readonly limit: number;
}

const MAX_PAGE = 1_000;

const ref = new RegExp(PATTERNS.givenRef);

/** Every text of this form is a position, so a well-formed cursor is never wrong. */
const CURSOR = /^c([1-9a-z][0-9a-z]{0,6})$/;

/** A cursor is the position of the last element of a page. */
const cursorAfter = (position: number): string => `c${position.toString(36)}`;

function parseCursor(text: string): number | undefined {
  const position = CURSOR.exec(text)?.[1];
  return position === undefined ? undefined : Number.parseInt(position, 36);
}

interface Parsed extends Required<ListFilter> {
  readonly limit: number;
  readonly cursor: number;
}

/**
 * 1 to 128 characters (code points, as JSON Schema counts) without NUL, in the composed form in which applications
 * are stored.
 */
function parseApplicationId(text: string): string | undefined {
  const { length } = Array.from(text);
  return length >= 1 && length <= 128 && !text.includes('\0') ? text.normalize('NFC') : undefined;
}

export const LIST_PARAMETERS: QueryParameters<Parsed> = {
  eventType: {
    expected: `must be one of ${EVENT_TYPES.join(', ')}`,
    parse: (text) => (isEventType(text) ? text : undefined),
  },
  applicationId: { expected: 'must be 1 to 128 characters', parse: parseApplicationId },
  enabled: {
    expected: 'must be true or false',
    parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  },
  ref: { expected: 'must be a UUID', parse: (text) => (ref.test(text) ? text.toLowerCase() : undefined) },
  limit: wholeNumber(1, MAX_PAGE),
  cursor: { expected: 'must be the nextCursor of a response', parse: parseCursor },
};

/** Reads the query of the list operation. Throws 422 for a parameter that is unknown, repeated or malformed. */
export function readListQuery(query: URLSearchParams): ListQuery {
  const { limit = MAX_PAGE, cursor = 0, ...filter } = readQuery(query, LIST_PARAMETERS);
  return { filter, after: cursor, limit };
}

/** `GET`: a tenant's configurations in order of registration. */
export async function listWebhooks(
  tenantId: string,
  query: ListQuery,
  list: (tenantId: string, query: ListQuery) => Promise<readonly Configuration[]>,
) {
  // One more shows whether there is a next page.
  const found = await list(tenantId, { ...query, limit: query.limit + 1 });
  const data = found.slice(0, query.limit);
  const last = data.at(-1);
  return {
    data: data.map(toListed),
    results: data.length,
    ...(last && found.length > data.length ? { nextCursor: cursorAfter(last.position) } : {}),
  };
}
