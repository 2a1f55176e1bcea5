import { createHash } from 'node:crypto';
import { createRandom } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';

/** The source of chance of one input: the same for a seed, a door and an index, whatever was made before it. */
export const randomFor = (seed: number, door: string, index: number): Random =>
  createRandom(createHash('sha256').update(`${seed}/${door}/${index}`).digest().readUInt32BE());
