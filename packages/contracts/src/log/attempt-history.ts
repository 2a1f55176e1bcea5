import { MAX_TIME_MS } from '../json/schema-compiler.js';

/** One failed attempt: an entry of the header `history` of a task. */
export interface HistoryEntry {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Start of the attempt, Unix milliseconds. */
  readonly at: number;
  readonly durationMs: number;
  /** HTTP status of the response; without a response, the class of the failure, such as `TLS`. */
  readonly result: number | string;
  /** The exact failure, such as `ECONNREFUSED`. */
  readonly code?: string;
}

/**
 * The attempts of a delivery as text, oldest first: `v1 1:1795269803100:12:503 2:1795269808123:9:TLS:CERT_HAS_EXPIRED`.
 * A retry appends one entry without parsing the others.
 */
export type AttemptHistory = string;

const FORMAT = 'v1';
/**
 * The longest schedule has 51 attempts of at most 73 characters (time 13, duration 5, word 3, code 45): 3,723 in all. The
 * remaining characters are reserved for fields of a later format.
 */
export const MAX_HISTORY_CHARACTERS = 4_096;

/** One entry. A later format may append fields; they are ignored here, and remain in the text. */
const ENTRY =
  /^(\d{1,4}):(\d{1,16}):(\d{1,9}):([A-Za-z0-9_-]{1,32})(?::([A-Z0-9_/]{1,64}))?(?::[\x21-\x7e]*)?$/;
const WHOLE = /^v\d{1,3}(?: \d{1,4}:\d{1,16}:\d{1,9}:[A-Za-z0-9_-]{1,32}(?::[\x21-\x7e]*)?)+$/;

/** A status of three digits (RFC 9110 §15). `000` is no status, and is read as a class of failure. */
const STATUS = /^[1-9]\d\d$/;

function parseEntry(text: string): HistoryEntry | undefined {
  const [, attempt, at, durationMs, result = '', code] = ENTRY.exec(text) ?? [];
  // A time after `MAX_TIME_MS` has no RFC 3339 form, and attempts count from 1.
  if (attempt === undefined || Number(attempt) < 1 || Number(at) > MAX_TIME_MS) return undefined;
  return {
    attempt: Number(attempt),
    at: Number(at),
    durationMs: Number(durationMs),
    result: STATUS.test(result) ? Number(result) : result,
    ...(code === undefined ? {} : { code }),
  };
}

/** Parses a history of this format or a later one. Never throws: damaged entries are left out. */
export function parseAttemptHistory(text: AttemptHistory | undefined): readonly HistoryEntry[] {
  const entries = (text ?? '').slice(0, MAX_HISTORY_CHARACTERS).split(' ').map(parseEntry);
  return entries.filter((entry) => entry !== undefined);
}

/** Returns a result as one word of letters, digits, `_` and `-`, at most 32 characters. */
export const cleanWord = (result: number | string): string =>
  String(result)
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 32) || '_';

const count = (value: number): number => Math.max(0, Math.round(value));

/** Removes the second entry and those after it, until the text fits. The first and the latest attempts matter most. */
function truncate(text: AttemptHistory): AttemptHistory {
  const [format = FORMAT, first = '', ...rest] = text.split(' ');
  let length = text.length;
  let from = 0;
  for (; length > MAX_HISTORY_CHARACTERS && from < rest.length - 1; from += 1)
    length -= 1 + (rest[from]?.length ?? 0);
  return [format, first, ...rest.slice(from)].join(' ');
}

/**
 * Appends an attempt. A text that exceeds `MAX_HISTORY_CHARACTERS` loses its second entry and those after it, until it
 * fits. The gap is visible in the numbers of the attempts.
 */
export function appendAttempt(history: AttemptHistory | undefined, entry: HistoryEntry): AttemptHistory {
  const { attempt, at, durationMs, result, code } = entry;
  const line = `${count(attempt)}:${count(at)}:${count(durationMs)}:${cleanWord(result)}`;
  const text = `${history ?? FORMAT} ${line}${code === undefined ? '' : `:${code}`}`;
  return text.length <= MAX_HISTORY_CHARACTERS ? text : truncate(text);
}

/** Reads the text of a header as a history. Leaves out damaged entries; undefined when no entry is valid. */
export function readAttemptHistory(text: string | undefined): AttemptHistory | undefined {
  if (text === undefined) return undefined;
  if (text.length <= MAX_HISTORY_CHARACTERS && WHOLE.test(text)) return text;
  const [known, ...more] = parseAttemptHistory(text);
  return known && more.reduce<AttemptHistory>(appendAttempt, appendAttempt(undefined, known));
}
