import { MAX_VIOLATIONS } from '@webhooks/contracts';
import type { Violation } from '@webhooks/contracts';
import { invalidRequest } from './app-error.js';

/** One parameter of a query. `parse` returns undefined for text that is not as expected. */
export interface QueryParameter<T> {
  /** The requirement, as the end of a sentence about the parameter, such as `must be true or false`. */
  readonly expected: string;
  readonly parse: (text: string) => T | undefined;
}

export type QueryParameters = Readonly<Record<string, QueryParameter<unknown>>>;

/** The parsed parameters of a query; absent when the query does not have them. */
type ReadQuery<P extends QueryParameters> = {
  readonly [K in keyof P]?: P[K] extends QueryParameter<infer T> ? T : never;
};

/** Makes a parameter that must match `pattern` (with the `u` flag). */
export function matching(pattern: string, expected: string): QueryParameter<string> {
  const form = new RegExp(pattern, 'u');
  return { expected, parse: (text) => (form.test(text) ? text : undefined) };
}

/** Makes a parameter that must be one of these words. */
export const oneOf = <T extends string>(words: readonly T[]): QueryParameter<T> => ({
  expected: `must be one of ${words.join(', ')}`,
  parse: (text) => words.find((word) => word === text),
});

/** Makes a parameter that must be a whole number from `min` to `max`. */
export const wholeNumber = (min: number, max: number): QueryParameter<number> => ({
  expected: `must be a whole number from ${min} to ${max}`,
  parse: (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    return String(number) === text && number >= min && number <= max ? number : undefined;
  },
});

/** Characters of a parameter's name that an error repeats. */
const MAX_NAME = 100;

function readParameter(
  parameter: QueryParameter<unknown> | undefined,
  name: string,
  values: readonly string[],
): { readonly value: unknown } | Violation {
  const property = name.slice(0, MAX_NAME);
  if (!parameter) return { property, reason: 'is not a known parameter' };
  const [first, ...more] = values;
  if (first === undefined || more.length > 0) return { property, reason: 'must appear once' };
  const value = parameter.parse(first);
  return value === undefined ? { property, reason: parameter.expected } : { value };
}

/** Reads a query. Throws a 422 that names the unknown, repeated and malformed parameters, at most `MAX_VIOLATIONS`. */
export function readQuery<P extends QueryParameters>(query: URLSearchParams, parameters: P): ReadQuery<P> {
  const known = new Map(Object.entries(parameters));
  const violations: Violation[] = [];
  const read: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const parameter = known.get(name);
    // Only for known names: `getAll` searches the whole query, which may have thousands of unknown names.
    const result = readParameter(parameter, name, parameter ? query.getAll(name) : []);
    if ('value' in result) read[name] = result.value;
    else violations.push(result);
    if (violations.length === MAX_VIOLATIONS) break;
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return read as ReadQuery<P>;
}

/**
 * Returns the body of a list response. `found` contains one element more than `limit` when there is a next page.
 * `nextAfter` makes the cursor of that page from the last element that is shown.
 */
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
