import { readQuery, wholeNumber } from '@webhooks/http-api';
import type { QueryParameters } from '@webhooks/http-api';
import { UUID } from '../path-ids.js';
import type { JobsWish } from './redelivery-store.js';

const MAX_LIMIT = 100;
const LIMIT = 20;

/** A cursor is the id of the last job of a page; callers need not know. */
export const cursorBefore = (id: string): string => `c${id}`;

const parseCursor = (text: string): string | undefined =>
  text.startsWith('c') && UUID.test(text.slice(1)) ? text.slice(1) : undefined;

export const JOBS_PARAMETERS: QueryParameters<{ readonly limit: number; readonly cursor: string }> = {
  limit: wholeNumber(1, MAX_LIMIT),
  cursor: { expected: 'must be the nextCursor of an answer', parse: parseCursor },
};

/** The query of the list of redeliveries. Throws 422 for a parameter that is unknown, repeated or malformed. */
export function readJobsQuery(query: URLSearchParams): JobsWish {
  const { limit = LIMIT, cursor } = readQuery(query, JOBS_PARAMETERS);
  return { limit, before: cursor };
}
