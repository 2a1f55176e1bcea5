import { EVENT_TYPES, PATTERNS } from '@webhooks/contracts';
import { matching, oneOf, pageOf, readQuery, wholeNumber } from '@webhooks/http-api';
import { toListed } from './configuration.js';
import type { Configuration } from './configuration.js';

const MAX_PAGE = 1_000;

const REF = matching(PATTERNS.givenRef, 'must be a UUID');

/** The form of a cursor. Every text of this form is valid, because a page may begin after any position. */
const CURSOR = /^c([1-9a-z][0-9a-z]{0,6})$/;

/** Makes a cursor of the position of the last element of a page. */
const cursorAfter = ({ position }: Configuration): string => `c${position.toString(36)}`;

function parseCursor(text: string): number | undefined {
  const position = CURSOR.exec(text)?.[1];
  return position === undefined ? undefined : Number.parseInt(position, 36);
}

/**
 * Parses an application id: 1 to 128 code points without NUL. Returns it in the composed form (NFC) in which it is
 * stored; undefined for other text.
 */
function parseApplicationId(text: string): string | undefined {
  const { length } = Array.from(text);
  return length >= 1 && length <= 128 && !text.includes('\0') ? text.normalize('NFC') : undefined;
}

export const LIST_PARAMETERS = {
  eventType: oneOf(EVENT_TYPES),
  applicationId: { expected: 'must be 1 to 128 characters', parse: parseApplicationId },
  enabled: {
    expected: 'must be true or false',
    parse: (text: string) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  },
  ref: { ...REF, parse: (text: string) => REF.parse(text)?.toLowerCase() },
  limit: wholeNumber(1, MAX_PAGE),
  cursor: { expected: 'must be the nextCursor of a response', parse: parseCursor },
};

/** Reads the query of the list operation. Throws 422 for a parameter that is unknown, repeated or malformed. */
export function readListQuery(query: URLSearchParams) {
  const { limit = MAX_PAGE, cursor = 0, ...filter } = readQuery(query, LIST_PARAMETERS);
  // `after`: the page begins after this position.
  return { filter, after: cursor, limit };
}

export type ListQuery = ReturnType<typeof readListQuery>;

/** `GET`: lists a tenant's configurations in order of registration. */
export async function listWebhooks(
  tenantId: string,
  query: ListQuery,
  list: (tenantId: string, query: ListQuery) => Promise<readonly Configuration[]>,
) {
  // One webhook more shows whether there is a next page.
  const found = await list(tenantId, { ...query, limit: query.limit + 1 });
  return pageOf(found, query.limit, toListed, cursorAfter);
}
