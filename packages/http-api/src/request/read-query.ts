import { MAX_VIOLATIONS } from '@webhooks/contracts';
import type { Violation } from '@webhooks/contracts';
import { invalidRequest } from './app-error.js';

/** One parameter of a query. `parse` returns undefined for text that is not as expected. */
export interface QueryParameter<T> {
  /** Ends the sentence that begins with the parameter's name, such as `must be true or false`. */
  readonly expected: string;
  readonly parse: (text: string) => T | undefined;
}

export type QueryParameters = Readonly<Record<string, QueryParameter<unknown>>>;

/** The parameters that a query gave, read. */
type ReadQuery<P extends QueryParameters> = {
  readonly [K in keyof P]?: P[K] extends QueryParameter<infer T> ? T : never;
};

/** A parameter of this form; `pattern` is matched with the `u` flag. */
export function matching(pattern: string, expected: string): QueryParameter<string> {
  const form = new RegExp(pattern, 'u');
  return { expected, parse: (text) => (form.test(text) ? text : undefined) };
}

/** A parameter that is one of these words. */
export const oneOf = <T extends string>(words: readonly T[]): QueryParameter<T> => ({
  expected: `must be one of ${words.join(', ')}`,
  parse: (text) => words.find((word) => word === text),
});

/** A parameter that is a whole number within these bounds. */
export const wholeNumber = (min: number, max: number): QueryParameter<number> => ({
  expected: `must be a whole number from ${min} to ${max}`,
  parse: (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    return String(number) === text && number >= min && number <= max ? number : undefined;
  },
});

/** Characters shown of the name of an unknown parameter. */
const MAX_NAME = 100;

function readParameter(
  parameter: QueryParameter<unknown> | undefined,
  name: string,
  values: readonly string[],
): { readonly value: unknown } | Violation {
  const property = name.slice(0, MAX_NAME);
  if (!parameter) return { property, reason: 'is not a known parameter' };
  const [first, ...more] = values;
  if (first === undefined || more.length > 0) return { property, reason: 'must be given once' };
  const value = parameter.parse(first);
  return value === undefined ? { property, reason: parameter.expected } : { value };
}

/** Reads a query. Throws one 422 that names the first parameters that are unknown, repeated or malformed. */
export function readQuery<P extends QueryParameters>(query: URLSearchParams, parameters: P): ReadQuery<P> {
  const known = new Map(Object.entries(parameters));
  const violations: Violation[] = [];
  const read: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const parameter = known.get(name);
    // `getAll` searches the whole query, and a query may have thousands of unknown names.
    const result = readParameter(parameter, name, parameter ? query.getAll(name) : []);
    if ('value' in result) read[name] = result.value;
    else violations.push(result);
    if (violations.length === MAX_VIOLATIONS) break;
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return read as ReadQuery<P>;
}

/** A page as a list shows it. `found` holds one more than `limit` when there is a next page; `nextAfter` names its start. */
export function pageOf<T, V>(
  found: readonly T[],
  limit: number,
  view: (one: T) => V,
  nextAfter: (last: T) => string,
) {
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return { data: shown.map(view), results: shown.length, ...(last && { nextCursor: nextAfter(last) }) };
}
