import { BlockPool } from '../../src/wire/block-pool.js';

const KIB = 1024;
const MAX_SPARE = 8 * KIB * KIB;

function taken(pool: BlockPool, bytes: number): Buffer {
  const block = pool.take(bytes);
  if (block === undefined) throw new Error('no block');
  return block;
}

describe('block pool', () => {
  it.each([
    [8 * KIB + 1, 16 * KIB],
    [16 * KIB, 16 * KIB],
    [16 * KIB + 1, 32 * KIB],
    [129 * KIB, 256 * KIB],
    [256 * KIB, 256 * KIB],
  ])('has for %s bytes a block of %s', (bytes, size) => {
    expect(taken(new BlockPool(), bytes).length).toBe(size);
  });

  it.each([0, 1, 8 * KIB, 256 * KIB + 1])('has none for %s bytes', (bytes) => {
    expect(new BlockPool().take(bytes)).toBeUndefined();
  });

  it('gives the same memory again, to whoever needs a block of that size', () => {
    const pool = new BlockPool();
    const first = taken(pool, 20 * KIB);
    expect(taken(pool, 20 * KIB)).not.toBe(first);
    pool.giveBack(first);
    expect(pool.spareBytes).toBe(32 * KIB);
    expect(taken(pool, 40 * KIB)).not.toBe(first);
    expect(taken(pool, 30 * KIB)).toBe(first);
    expect(pool.spareBytes).toBe(0);
  });

  it('keeps 8 MiB at most, and memory it was given back can be taken again', () => {
    const pool = new BlockPool();
    const blocks = Array.from({ length: 40 }, () => taken(pool, 256 * KIB));
    const small = taken(pool, 9 * KIB);
    for (const block of blocks) pool.giveBack(block);
    pool.giveBack(small);
    expect(pool.spareBytes).toBe(MAX_SPARE);
    taken(pool, 256 * KIB);
    pool.giveBack(small);
    expect(pool.spareBytes).toBe(MAX_SPARE - 240 * KIB);
  });
});
