import { randomBytes } from 'node:crypto';

/** A seeded source of chance: the same seed gives the same sequence on every machine. Not for secrets. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** Whole number in [min, max], both included. */
  int(min: number, max: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** Text of `length` characters from `alphabet`, default letters and digits. */
  text(length: number, alphabet?: string): string;
}

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** mulberry32: 32 bits of state, good enough for samples and property tests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    pick: (items) => items[int(0, items.length - 1)] ?? items[0],
    chance: (probability) => next() < probability,
    text: (length, alphabet = ALPHANUMERIC) =>
      Array.from({ length }, () => alphabet.charAt(int(0, alphabet.length - 1))).join(''),
  };
}

/** A name nobody else uses: `<prefix>-<12 hex digits>`; valid for topics, databases, groups and tenants. */
export function randomName(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}
