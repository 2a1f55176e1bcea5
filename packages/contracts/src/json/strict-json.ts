/** Why a text is not acceptable JSON: a stable word for headers and violations. */
export type JsonFault =
  'not-utf8' | 'not-json' | 'too-deep' | 'too-many-values' | 'duplicate-key' | 'forbidden-character';

export type StrictJson = (
  | { readonly ok: true; readonly value: unknown }
  /** `at`: position of a syntax error, such as `column 9` or `line 2 column 1`, when the parser reports it. */
  | { readonly ok: false; readonly fault: JsonFault; readonly at?: string }
) & {
  /** Values counted before reading stopped; absent when the input is not UTF-8. */
  readonly values?: number;
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const BACKSLASH = 0x5c;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

interface Bounds {
  readonly maxDepth?: number;
  readonly maxValues?: number;
}

/** Returns the index of the quote that closes the string opened before `from`; the text's length when none closes it. */
function endOfString(text: string, from: number): number {
  let at = from;
  for (;;) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
    at += 1;
  }
}

const OPENING = 1;
const CLOSING = 2;
const SEPARATOR = 3;
const COLON = 4;
const QUOTED = 5;
const KINDS = {
  '{': OPENING,
  '[': OPENING,
  '}': CLOSING,
  ']': CLOSING,
  ',': SEPARATOR,
  ':': COLON,
  '"': QUOTED,
};
/** The kind of each character, by its code; 0 for characters that are not structural. */
const KIND_OF = new Uint8Array(128);
for (const [sign, kind] of Object.entries(KINDS)) KIND_OF[sign.charCodeAt(0)] = kind;

/**
 * Counts nesting, `name: value` pairs and values in the text. A parser would drop repeated names. `values` counts colons,
 * commas and opening brackets: a parser makes at most one value more.
 */
function measure(text: string, { maxDepth, maxValues }: Required<Bounds>) {
  let [depth, deepest, members, values] = [0, 0, 0, 0];
  const isWithin = (): boolean => deepest <= maxDepth && values <= maxValues;
  for (let at = 0; at < text.length && isWithin(); at += 1) {
    const kind = KIND_OF[text.charCodeAt(at)] ?? 0;
    if (kind === QUOTED) at = endOfString(text, at + 1);
    else if (kind === CLOSING) depth -= 1;
    else if (kind !== 0) values += 1;
    members += Number(kind === COLON);
    if (kind === OPENING) deepest = Math.max(deepest, (depth += 1));
  }
  return { depth: deepest, members, values };
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countMembers(item), 0);
  let count = 0;
  for (const item of Object.values(value)) count += 1 + countMembers(item);
  return count;
}

const isCleanText = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

function isClean(value: unknown): boolean {
  if (typeof value === 'string') return isCleanText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isClean);
  return Object.entries(value).every(([name, item]) => isCleanText(name) && isClean(item));
}

function decode(input: string | Uint8Array): string | undefined {
  if (typeof input === 'string') return input;
  try {
    return utf8.decode(input);
  } catch {
    return undefined;
  }
}

function parse(text: string): StrictJson {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // Only the position: the rest of the parser's message may quote the text.
    const at = /line \d+ column \d+/.exec(String(error))?.[0].replace(/^line 1 /, '');
    return { ok: false, fault: 'not-json', ...(at === undefined ? {} : { at }) };
  }
}

/**
 * Parses JSON that means the same to every reader (RFC 8259 §4, RFC 7493). Refuses malformed UTF-8, repeated member
 * names, and NUL or lone surrogates in strings. Refuses more than `maxDepth` levels (default 32) or `maxValues` values
 * (default: no bound).
 *
 * Repeated names are found by counting. The text has one `:` outside strings for each member, and a parser keeps one of
 * each name. A difference means that a member was dropped.
 */
export function parseStrictJson(
  input: string | Uint8Array,
  { maxDepth = 32, maxValues = Infinity }: Bounds = {},
): StrictJson {
  const text = decode(input);
  if (text === undefined) return { ok: false, fault: 'not-utf8' };
  const { depth, members, values } = measure(text, { maxDepth, maxValues });
  if (depth > maxDepth) return { ok: false, fault: 'too-deep', values };
  if (values > maxValues) return { ok: false, fault: 'too-many-values', values };
  // In a value, NUL or a lone surrogate comes only from an escape, or from an ill-formed string as the input.
  return { ...parseMeasured(text, members, typeof input === 'string' || text.includes('\\u')), values };
}

function parseMeasured(text: string, members: number, mayBeUnclean: boolean): StrictJson {
  const parsed = parse(text);
  if (!parsed.ok) return parsed;
  if (countMembers(parsed.value) !== members) return { ok: false, fault: 'duplicate-key' };
  return !mayBeUnclean || isClean(parsed.value) ? parsed : { ok: false, fault: 'forbidden-character' };
}
