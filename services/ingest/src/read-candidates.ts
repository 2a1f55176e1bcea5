import { parseStrictJson } from '@webhooks/contracts';
import { MAX_BODY_VALUES, invalidRequest, jsonFault, mediaTypeOf, parseJsonText } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';

/** One posted event: parsed JSON, or the fault of its line. `line` counts the lines of an NDJSON body from 1. */
export type Candidate = ({ readonly value: unknown } | { readonly fault: string }) & {
  readonly line?: number;
};

export interface Posted {
  /** An array or NDJSON: the response is a list of results, even for one event. */
  readonly batch: boolean;
  readonly candidates: readonly Candidate[];
}

/** Throws when this many events may not come now. */
export type CheckCount = (count: number) => void;

export const MAX_BATCH_EVENTS = 1_000;

const NDJSON: ReadonlySet<string | undefined> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
]);

const tooMany = () =>
  invalidRequest([{ property: '', reason: `must not hold more than ${MAX_BATCH_EVENTS} events` }]);

/** With empty lines (a last line feed, CRLF), which do not count as events. */
const MAX_LINES = 2 * MAX_BATCH_EVENTS;
/** The replacement for malformed UTF-8; no field of an event may hold it. */
const MALFORMED = '\ufffd';

const readLine = (text: string, maxValues: number): ReturnType<typeof parseStrictJson> =>
  text.includes(MALFORMED) ? { ok: false, fault: 'not-utf8' } : parseStrictJson(text, { maxValues });

function readLines(body: Buffer, check: CheckCount): readonly Candidate[] {
  // Drops a byte order mark.
  const text = new TextDecoder().decode(body);
  const lines: (readonly [text: string, line: number])[] = [];
  for (let start = 0, line = 1; start <= text.length; line += 1) {
    const end = text.indexOf('\n', start);
    const content = text.slice(start, end < 0 ? undefined : end);
    if (content.trim() !== '') lines.push([content, line]);
    // Before any line is parsed.
    if (lines.length > MAX_BATCH_EVENTS || line > MAX_LINES) throw tooMany();
    start = end < 0 ? text.length + 1 : end + 1;
  }
  check(lines.length);
  let values = MAX_BODY_VALUES;
  return lines.map(([content, line]) => {
    const parsed = readLine(content, values);
    values -= Math.min(values, parsed.values ?? 0);
    return parsed.ok ? { value: parsed.value, line } : { fault: jsonFault(parsed), line };
  });
}

function readPosted(request: ApiRequest, check: CheckCount): Posted {
  const type = mediaTypeOf(request);
  if (NDJSON.has(type)) return { batch: true, candidates: readLines(request.body, check) };
  if (type !== 'application/json') {
    throw invalidRequest([
      { property: 'Content-Type', reason: 'must be application/json or application/x-ndjson' },
    ]);
  }
  const value = parseJsonText(request.body);
  if (Array.isArray(value))
    return { batch: true, candidates: value.map((item: unknown) => ({ value: item })) };
  return { batch: false, candidates: [{ value }] };
}

/**
 * The events of a request. Lines are counted before they are parsed. Throws what `check` throws, and 422 when the
 * body as a whole is unusable: no JSON, no event, over 1,000 events.
 */
export function readCandidates(request: ApiRequest, check: CheckCount = () => undefined): Posted {
  const posted = readPosted(request, check);
  const count = posted.candidates.length;
  if (count === 0) throw invalidRequest([{ property: '', reason: 'must hold at least one event' }]);
  if (count > MAX_BATCH_EVENTS) throw tooMany();
  return posted;
}
