import { parseStrictJson } from '@webhooks/contracts';
import { MAX_BODY_VALUES, invalidRequest, jsonFault, mediaTypeOf, parseJsonText } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';

/** One posted event: its parsed JSON, or the fault of its line. `line`: its line in an NDJSON body, from 1. */
export type Candidate = ({ readonly value: unknown } | { readonly fault: string }) & {
  readonly line?: number;
};

export interface Posted {
  /** Whether the body is an array or NDJSON. Then the response is a list of results, even for one event. */
  readonly batch: boolean;
  readonly candidates: readonly Candidate[];
}

/** Throws when the tenant's rate limit does not admit this many events now. */
export type AdmitEvents = (count: number) => void;

/** Most events of one request. */
export const MAX_BATCH_EVENTS = 1_000;

const NDJSON = /^application\/(x-ndjson|ndjson|jsonl)$/;

const tooMany = () =>
  invalidRequest([
    { property: '', reason: `must not hold more than ${MAX_BATCH_EVENTS} events, or ${MAX_LINES} lines` },
  ]);

/** Most lines of a body, twice the events: empty lines do not count as events. */
const MAX_LINES = 2 * MAX_BATCH_EVENTS;
/** The replacement character for malformed UTF-8. A line with it is refused, also where the caller meant it. */
const MALFORMED = '\ufffd';

const readLine = (text: string, maxValues: number): ReturnType<typeof parseStrictJson> =>
  text.includes(MALFORMED) ? { ok: false, fault: 'not-utf8' } : parseStrictJson(text, { maxValues });

function readLines(body: Buffer, admit: AdmitEvents): readonly Candidate[] {
  // The decoder drops a byte order mark.
  const all = new TextDecoder()
    .decode(body)
    .replace(/\n$/, '')
    .split('\n', MAX_LINES + 1);
  const lines = all.flatMap((text, at) => (text.trim() === '' ? [] : [[text, at + 1] as const]));
  // Checked before any line is parsed.
  if (lines.length > MAX_BATCH_EVENTS || all.length > MAX_LINES) throw tooMany();
  admit(lines.length);
  let values = MAX_BODY_VALUES;
  return lines.map(([content, line]) => {
    const parsed = readLine(content, values);
    values -= Math.min(values, parsed.values ?? 0);
    return parsed.ok ? { value: parsed.value, line } : { fault: jsonFault(parsed), line };
  });
}

function readPosted(request: ApiRequest, admit: AdmitEvents): Posted {
  const type = mediaTypeOf(request);
  if (NDJSON.test(type ?? '')) return { batch: true, candidates: readLines(request.body, admit) };
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
 * Reads the events of a request. Lines are counted before they are parsed. Throws what `admit` throws, and 422 when
 * the body as a whole is unusable: no JSON, no event, or more than 1,000 events.
 */
export function readCandidates(request: ApiRequest, admit: AdmitEvents = () => undefined): Posted {
  const posted = readPosted(request, admit);
  const count = posted.candidates.length;
  if (count === 0) throw invalidRequest([{ property: '', reason: 'must hold at least one event' }]);
  if (count > MAX_BATCH_EVENTS) throw tooMany();
  return posted;
}
