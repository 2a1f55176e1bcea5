import { BlockPool } from '../../src/wire/block-pool.js';

const KIB = 1024;

describe('block pool', () => {
  const pool = () => new BlockPool({ blockBytes: 64 * KIB, maxSpare: 2 });

  it('gives the same memory again', () => {
    const blocks = pool();
    const first = blocks.take(20 * KIB);
    if (first === undefined) throw new Error('no block');
    expect(first.length).toBe(64 * KIB);
    expect(blocks.take(20 * KIB)).not.toBe(first);
    blocks.giveBack(first);
    expect(blocks.take(64 * KIB)).toBe(first);
  });

  it.each([0, 8 * KIB - 1, 64 * KIB + 1])('has none for %s bytes', (bytes) => {
    expect(pool().take(bytes)).toBeUndefined();
  });

  it('keeps no more than its bound', () => {
    const blocks = pool();
    const taken = [1, 2, 3].map(() => blocks.take(20 * KIB));
    for (const block of taken) if (block !== undefined) blocks.giveBack(block);
    expect(blocks.spare).toBe(2);
  });
});
