import type { Random } from '@webhooks/testkit';
import { NASTY_BYTES } from './nasty.js';

type Mutation = (bytes: Buffer, at: number, random: Random) => Buffer;

const splice = (bytes: Buffer, from: number, to: number, ...between: readonly Buffer[]): Buffer =>
  Buffer.concat([bytes.subarray(0, from), ...between, bytes.subarray(to)]);

/** Longest piece that is repeated, so that a mutant stays within some kilobytes of what it was made of. */
const MAX_PIECE = 64;

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  (bytes, at, random) => splice(bytes, at, at + 1, Buffer.from([(bytes[at] ?? 0) ^ (1 << random.int(0, 7))])),
  (bytes, at, random) => splice(bytes, at, at + 1, Buffer.from([random.int(0, 255)])),
  (bytes, at, random) => splice(bytes, at, at, random.pick(NASTY_BYTES)),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => bytes.subarray(at),
  (bytes, at, random) => splice(bytes, at, at + random.int(1, MAX_PIECE)),
  (bytes, at, random) => {
    const piece = bytes.subarray(at, at + random.int(1, MAX_PIECE));
    return splice(bytes, at, at, ...Array.from({ length: random.int(1, 50) }, () => piece));
  },
];

/** The bytes with one to three small damages: flipped, replaced, inserted, cut, removed or repeated. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let mutant = bytes;
  for (let left = random.int(1, 3); left > 0; left -= 1)
    mutant = random.pick(MUTATIONS)(mutant, random.int(0, Math.max(0, mutant.length - 1)), random);
  return mutant;
}
