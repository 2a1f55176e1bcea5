import { MAX_TIME_MS } from '../json/schema-compiler.js';

/** One attempt that failed, as the header `history` of a task tells it. */
export interface HistoryEntry {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Start of the attempt, Unix milliseconds. */
  readonly at: number;
  readonly durationMs: number;
  /** HTTP status of the response, or the class of the failure when none came, such as `TLS`. */
  readonly result: number | string;
  /** What the failure was exactly, such as `ECONNREFUSED`. */
  readonly code?: string;
}

/**
 * The attempts of a delivery as text, oldest first: `v1 1:1795269803100:12:503 2:1795269808123:9:TLS:CERT_HAS_EXPIRED`.
 * It travels as it is and is taken apart by those who read it, so that a retry pays for one line more, not for parsing.
 */
export type AttemptHistory = string;

const FORMAT = 'v1';
/**
 * 51 attempts (the longest schedule) of 13 digits of time, 5 of duration, a word of 3 and a code of 45 are 51 × 73 = 3,723
 * characters; somewhat more, so that a later format has space for more fields.
 */
export const MAX_HISTORY_CHARACTERS = 4_096;

/** A later format appends fields to an entry; they are passed over here and kept for those who know them. */
const ENTRY =
  /^(\d{1,4}):(\d{1,16}):(\d{1,9}):([A-Za-z0-9_-]{1,32})(?::([A-Z0-9_/]{1,64}))?(?::[\x21-\x7e]*)?$/;
const WHOLE = /^v\d{1,3}(?: \d{1,4}:\d{1,16}:\d{1,9}:[A-Za-z0-9_-]{1,32}(?::[\x21-\x7e]*)?)+$/;

/** Three digits that a response can have (RFC 9110 §15); `000` is a word like any other. */
const STATUS = /^[1-9]\d\d$/;

function parseEntry(text: string): HistoryEntry | undefined {
  const [, attempt, at, durationMs, result = '', code] = ENTRY.exec(text) ?? [];
  // Nobody could tell such a time, or count such an attempt.
  if (attempt === undefined || Number(attempt) < 1 || Number(at) > MAX_TIME_MS) return undefined;
  return {
    attempt: Number(attempt),
    at: Number(at),
    durationMs: Number(durationMs),
    result: STATUS.test(result) ? Number(result) : result,
    ...(code === undefined ? {} : { code }),
  };
}

/** Reads a history of this format or a later one. Never throws: an entry that is damaged is left out. */
export function parseAttemptHistory(text: AttemptHistory | undefined): readonly HistoryEntry[] {
  const entries = (text ?? '').slice(0, MAX_HISTORY_CHARACTERS).split(' ').map(parseEntry);
  return entries.filter((entry) => entry !== undefined);
}

/** A result as one word of letters, digits, `_` and `-`, at most 32 characters. */
export const cleanWord = (result: number | string): string =>
  String(result)
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 32) || '_';

const count = (value: number): number => Math.max(0, Math.round(value));

/** Cuts the oldest entries but the very first: when it all began, and what was seen last, tell the most. */
function cut(text: AttemptHistory): AttemptHistory {
  const [format = FORMAT, first = '', ...rest] = text.split(' ');
  let length = text.length;
  let from = 0;
  for (; length > MAX_HISTORY_CHARACTERS && from < rest.length - 1; from += 1)
    length -= 1 + (rest[from]?.length ?? 0);
  return [format, first, ...rest.slice(from)].join(' ');
}

/** The history with one attempt more; above the bound the oldest but the first are cut. Gaps show in the numbers. */
export function appendAttempt(history: AttemptHistory | undefined, entry: HistoryEntry): AttemptHistory {
  const { attempt, at, durationMs, result, code } = entry;
  const line = `${count(attempt)}:${count(at)}:${count(durationMs)}:${cleanWord(result)}`;
  const text = `${history ?? FORMAT} ${line}${code === undefined ? '' : `:${code}`}`;
  return text.length <= MAX_HISTORY_CHARACTERS ? text : cut(text);
}

/**
 * A header's text as a history that may be carried on: whole, or what can still be read of a damaged one. Undefined when
 * there is nothing: a damaged history never makes a task unreadable.
 */
export function readAttemptHistory(text: string | undefined): AttemptHistory | undefined {
  if (text === undefined) return undefined;
  if (text.length <= MAX_HISTORY_CHARACTERS && WHOLE.test(text)) return text;
  const [known, ...more] = parseAttemptHistory(text);
  return known && more.reduce<AttemptHistory>(appendAttempt, appendAttempt(undefined, known));
}
