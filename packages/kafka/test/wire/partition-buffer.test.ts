import { PartitionBuffer } from '../../src/wire/partition-buffer.js';
import { batchOf } from './batches.js';

const PLACE = { topic: 't', partition: 0 };
const response = (records: Buffer) => ({
  ...PLACE,
  errorCode: 0,
  highWatermark: 10,
  logStart: 0,
  aborted: [],
  records,
});

describe('partition buffer', () => {
  it.each([-1, -12, 0, 48, 2_147_483_647])(
    'moves on by one undecodable record when the first batch has a length of %s',
    (length) => {
      const buffer = new PartitionBuffer(PLACE, 3);
      const batch = batchOf({ base: 3, values: ['a', 'b'] });
      batch.writeInt32BE(length, 8);
      buffer.accept(response(batch), { offset: 3 });
      expect(buffer.take()).toMatchObject({ offset: 3, undecodable: `a batch length of ${length}` });
      expect(buffer.take()).toBeUndefined();
      expect(buffer).toMatchObject({ position: 4, nextFetch: 4, full: false });
    },
  );

  it('continues behind a batch that lies before the requested offset', () => {
    const buffer = new PartitionBuffer(PLACE, 10);
    buffer.accept(response(batchOf({ base: 0, values: ['a'] })), { offset: 10 });
    expect(buffer.take()).toMatchObject({ offset: 10 });
    expect(buffer.take()).toBeUndefined();
    expect(buffer).toMatchObject({ position: 11, nextFetch: 11 });
  });

  it('requests more bytes when the first batch was cut, and gives nothing of it', () => {
    const buffer = new PartitionBuffer(PLACE, 3);
    const batch = batchOf({ base: 3, values: ['x'.repeat(300_000)] });
    buffer.accept(response(batch.subarray(0, 256 * 1024)), { offset: 3 });
    expect(buffer.take()).toBeUndefined();
    expect(buffer).toMatchObject({ position: 3, nextFetch: 3, maxBytes: batch.length });
  });
});
