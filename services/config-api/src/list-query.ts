import { EVENT_TYPES } from '@webhooks/contracts';
import type { EventType, Violation } from '@webhooks/contracts';
import { invalidRequest } from '@webhooks/http-api';
import { REF_PATTERN } from './webhook-input.js';

interface ListFilter {
  readonly eventType?: EventType;
  readonly applicationId?: string;
  readonly enabled?: boolean;
  readonly ref?: string;
}

export interface ListQuery {
  readonly filter: ListFilter;
  /** Place after which the page begins. */
  readonly after: number;
  readonly limit: number;
}

const MAX_PAGE = 1_000;

const isEventType = (text: string): text is EventType => EVENT_TYPES.some((type) => type === text);
const ref = new RegExp(REF_PATTERN);

/** Every text of this form is the place of some element: there is no cursor that is well-formed and wrong. */
const CURSOR = /^c([1-9a-z][0-9a-z]{0,6})$/;

/** A cursor is the place of the last element of a page; callers need not know. */
export const cursorAfter = (position: number): string => `c${position.toString(36)}`;

function parseCursor(text: string): Parsed | undefined {
  const position = CURSOR.exec(text)?.[1];
  return position === undefined ? undefined : { cursor: Number.parseInt(position, 36) };
}

type Parsed = Partial<{
  eventType: EventType;
  applicationId: string;
  enabled: boolean;
  ref: string;
  limit: number;
  cursor: number;
}>;

interface Parameter {
  readonly expected: string;
  readonly parse: (text: string) => Parsed | undefined;
}

function parseLimit(text: string): Parsed | undefined {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= MAX_PAGE ? { limit } : undefined;
}

/** 1 to 128 characters (code points, as JSON Schema counts), none of them NUL. */
function parseApplicationId(text: string): Parsed | undefined {
  const { length } = Array.from(text);
  return length >= 1 && length <= 128 && !text.includes('\0') ? { applicationId: text } : undefined;
}

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  eventType: {
    expected: `must be one of ${EVENT_TYPES.join(', ')}`,
    parse: (text) => (isEventType(text) ? { eventType: text } : undefined),
  },
  applicationId: { expected: 'must be 1 to 128 characters', parse: parseApplicationId },
  enabled: {
    expected: 'must be true or false',
    parse: (text) => (text === 'true' || text === 'false' ? { enabled: text === 'true' } : undefined),
  },
  ref: {
    expected: 'must be a UUID in lower case',
    parse: (text) => (ref.test(text) ? { ref: text } : undefined),
  },
  limit: { expected: `must be a whole number from 1 to ${MAX_PAGE}`, parse: parseLimit },
  cursor: { expected: 'must be the nextCursor of an answer', parse: parseCursor },
};

function readParameter(name: string, values: readonly string[]): Parsed | Violation {
  const property = name.slice(0, 100);
  const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
  if (!parameter) return { property, reason: 'is not a known parameter' };
  const [first, ...more] = values;
  if (first === undefined || more.length > 0) return { property, reason: 'must be given once' };
  return parameter.parse(first) ?? { property, reason: parameter.expected };
}

const isViolation = (read: Parsed | Violation): read is Violation => 'reason' in read;

/** The query of the list operation. Throws 422 for a parameter that is unknown, repeated or malformed. */
export function readListQuery(query: URLSearchParams): ListQuery {
  const names = [...new Set(query.keys())];
  const read = names.map((name) => readParameter(name, query.getAll(name)));
  const violations = read.filter(isViolation);
  if (violations.length > 0) throw invalidRequest(violations.slice(0, 20));
  const {
    limit = MAX_PAGE,
    cursor = 0,
    ...filter
  } = read.filter((one) => !isViolation(one)).reduce<Parsed>((all, one) => ({ ...all, ...one }), {});
  return { filter, after: cursor, limit };
}
