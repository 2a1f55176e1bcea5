import type { Random } from '@webhooks/testkit';
import type { IHeaders } from 'kafkajs';
import { NASTY_BYTES, NASTY_TEXTS } from '../mutants/nasty.js';

type Mutation = (headers: IHeaders, name: string, random: Random) => IHeaders;

const set = (headers: IHeaders, name: string, value: IHeaders[string]): IHeaders => ({
  ...headers,
  [name]: value,
});

const without = (headers: IHeaders, name: string): IHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([known]) => known !== name));

/** A history that claims what no attempt can have been. */
const HISTORIES: readonly [string, ...string[]] = [
  'v1 1:9999999999999999:12:503',
  'v1 1:253402300800000:999999999:TLS',
  'v1 9999:0:0:000',
  'v1 1:1:1:1 1:1:1:1 1:1:1:1',
  `v1${' 1:1795269803100:12:503'.repeat(500)}`,
  'v999 1:1:1:1:x',
  'v1',
];

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  (headers, name) => without(headers, name),
  (headers, name, random) => set(headers, name, random.pick(NASTY_TEXTS)),
  (headers, name, random) => set(headers, name, random.pick(NASTY_TEXTS)),
  (headers, name, random) => set(headers, name, random.pick(NASTY_BYTES)),
  (headers, name, random) => set(headers, name, [String(headers[name]), random.pick(NASTY_TEXTS)]),
  (headers, name, random) => set(headers, name, [random.pick(NASTY_TEXTS), String(headers[name])]),
  (headers, name) => set(without(headers, name), name.toUpperCase(), headers[name] ?? ''),
  (headers, _name, random) => set(headers, random.pick(['constructor', 'toString', ' ', '\u00e9']), 'x'),
  (headers, _name, random) => set(headers, 'history', random.pick(HISTORIES)),
  (headers, _name, random) => set(headers, 'traceparent', random.pick(NASTY_TEXTS)),
  (headers) => set(headers, 'large', Buffer.alloc(100_000, 'l')),
  (headers) => ({
    ...headers,
    ...Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`many-${index}`, 'x'])),
  }),
];

/** Headers with one to three damages. */
export function mutateHeaders(random: Random, headers: IHeaders): IHeaders {
  let mutant = headers;
  for (let left = random.int(1, 3); left > 0; left -= 1) {
    const [first = 'x', ...more] = Object.keys(mutant);
    mutant = random.pick(MUTATIONS)(mutant, random.pick([first, ...more]), random);
  }
  return mutant;
}
