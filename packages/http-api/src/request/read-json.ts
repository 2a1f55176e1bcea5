import { parseStrictJson } from '@webhooks/contracts';
import type { Check, JsonFault, StrictJson } from '@webhooks/contracts';
import { invalidRequest } from './app-error.js';
import type { ApiRequest } from './operation.js';

const FAULTS: Readonly<Record<JsonFault, string>> = {
  'not-utf8': 'must be UTF-8',
  'not-json': 'must be JSON',
  'too-deep': 'is nested too deep',
  'too-many-values': 'holds too many values',
  'duplicate-key': 'repeats a member name',
  'forbidden-character': 'holds a NUL or a lone surrogate',
};

/** The media type of a body in lower case, without parameters; undefined when the header is absent. Throws 422 for another charset than UTF-8. */
export function mediaTypeOf(request: ApiRequest): string | undefined {
  const [type, ...parameters] = request.header('content-type')?.toLowerCase().split(';') ?? [];
  if (parameters.some((parameter) => /^\s*charset\s*=(?!\s*"?utf-8"?\s*$)/.test(parameter)))
    throw invalidRequest([{ property: 'Content-Type', reason: 'must have no charset but UTF-8' }]);
  return type?.trim();
}

/** Why a text is not acceptable JSON, in words for the caller. */
export const jsonFault = ({ fault, at }: Extract<StrictJson, { ok: false }>): string =>
  at === undefined ? FAULTS[fault] : `${FAULTS[fault]}; the fault is at ${at}`;

/** Values of one body: 1,000 events of 64 each, more than twice what an event has. JSON costs by its values, not by its bytes. */
export const MAX_BODY_VALUES = 64_000;

/** A strictly parsed JSON text as a value, or a 422 that names the fault. */
export function parseJsonText(text: string | Uint8Array): unknown {
  const parsed = parseStrictJson(text, { maxValues: MAX_BODY_VALUES });
  if (parsed.ok) return parsed.value;
  throw invalidRequest([{ property: '', reason: jsonFault(parsed) }]);
}

/** The body of a request as JSON that passes `check`. Throws 422 for another content type, no JSON, or violations. */
export function readJson<T>(request: ApiRequest, check: Check<T>): T {
  if (mediaTypeOf(request) !== 'application/json') {
    throw invalidRequest([{ property: 'Content-Type', reason: 'must be application/json' }]);
  }
  const result = check(parseJsonText(request.body));
  if (result.ok) return result.value;
  throw invalidRequest(result.violations);
}
