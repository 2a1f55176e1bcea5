import { scanBatches } from '../../src/wire/batch-frame.js';
import { batchOf } from './batches.js';

describe('scanBatches', () => {
  it('counts whole batches and where they end', () => {
    const whole = Buffer.concat([
      batchOf({ base: 3, values: ['a', 'b'] }),
      batchOf({ base: 5, values: ['c'], lastDelta: 4 }),
    ]);
    const cut = batchOf({ base: 10, values: ['d'] }).subarray(0, 40);
    expect(scanBatches(Buffer.concat([whole, cut]))).toEqual({
      bytes: whole.length,
      nextOffset: 10,
      neededBytes: 0,
    });
  });

  it('gives the bytes that a cut first batch needs', () => {
    const batch = batchOf({ base: 3, values: ['x'.repeat(500)] });
    expect(scanBatches(batch.subarray(0, 100))).toEqual({
      bytes: 0,
      nextOffset: undefined,
      neededBytes: batch.length,
    });
  });

  it('finds no batch in an empty block', () => {
    expect(scanBatches(Buffer.alloc(0))).toEqual({ bytes: 0, nextOffset: undefined, neededBytes: 0 });
  });

  const damaged = (length: number) => {
    const batch = batchOf({ base: 3, values: ['a', 'b'] });
    batch.writeInt32BE(length, 8);
    return batch;
  };

  it.each([-1, -12, -2_147_483_648, 0, 48, 2_147_483_647])(
    'stops before a batch whose length is %s',
    (length) => {
      const whole = batchOf({ base: 2, values: ['x'] });
      expect(scanBatches(Buffer.concat([whole, damaged(length)]))).toEqual({
        bytes: whole.length,
        nextOffset: 3,
        neededBytes: 0,
      });
    },
  );

  it('ignores the number of offsets in a damaged batch', () => {
    const batch = batchOf({ base: 3, values: ['a', 'b'] });
    batch.writeInt32BE(1_000_000, 23);
    expect(scanBatches(batch).nextOffset).toBe(4);
  });
});
