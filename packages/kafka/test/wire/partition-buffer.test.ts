import { gzipSync } from 'node:zlib';
import type { KafkaRecord } from '../../src/index.js';
import { PartitionBuffer } from '../../src/wire/partition-buffer.js';
import { batchOf } from './batches.js';

describe('partition buffer', () => {
  const place = { topic: 't', partition: 0 };
  const answer = (records: Buffer) => ({
    ...place,
    errorCode: 0,
    highWatermark: 10,
    lastStableOffset: 10,
    aborted: [],
    records,
  });

  it.each([-1, -12, 0, 48, 2_147_483_647])(
    'moves on by one undecodable record when the first batch has a length of %s',
    (length) => {
      const buffer = new PartitionBuffer(place, 3);
      const batch = batchOf({ base: 3, values: ['a', 'b'] });
      batch.writeInt32BE(length, 8);
      buffer.accept(answer(batch), 3);
      expect(buffer.take()).toMatchObject({ offset: 3, undecodable: `a batch length of ${length}` });
      expect(buffer.take()).toBeUndefined();
      expect(buffer).toMatchObject({ position: 4, nextFetch: 4, full: false });
    },
  );

  it('goes on behind a batch that lies before what was asked for', () => {
    const buffer = new PartitionBuffer(place, 10);
    buffer.accept(answer(batchOf({ base: 0, values: ['a'] })), 10);
    expect(buffer.take()).toMatchObject({ offset: 10 });
    expect(buffer.take()).toBeUndefined();
    expect(buffer).toMatchObject({ position: 11, nextFetch: 11 });
  });

  it('asks for more when the first batch was cut, and gives nothing of it', () => {
    const buffer = new PartitionBuffer(place, 3);
    const batch = batchOf({ base: 3, values: ['x'.repeat(300_000)] });
    buffer.accept(answer(batch.subarray(0, 256 * 1024)), 3);
    expect(buffer.take()).toBeUndefined();
    expect(buffer).toMatchObject({ position: 3, nextFetch: 3, maxBytes: batch.length });
  });

  /** Blocks of this size are used again. */
  const blockOf = (base: number, letter: string, shape = {}) =>
    batchOf({ base, values: [1, 2, 3].map(() => letter.repeat(60_000)), ...shape });
  const taken = (buffer: PartitionBuffer) => {
    const records: KafkaRecord[] = [];
    for (let record = buffer.take(); record !== undefined; record = buffer.take()) records.push(record);
    return records;
  };
  const lettersOf = (records: readonly KafkaRecord[]) =>
    records.map(({ value }) => [...new Set(value?.toString())].join(''));

  it.each([
    ['plain', {}],
    [
      'packed',
      { attributes: 1, pack: (bytes: Buffer) => Buffer.concat([gzipSync(bytes), Buffer.alloc(20_000)]) },
    ],
  ])('gives %s records that stay as they are when later blocks come', (_name, shape) => {
    const buffer = new PartitionBuffer(place, 0);
    buffer.accept(answer(blockOf(0, 'a', shape)), 0);
    const first = taken(buffer);
    for (const base of [3, 6, 9]) {
      buffer.accept(answer(blockOf(base, 'b', shape)), base);
      expect(lettersOf(taken(buffer))).toEqual(['b', 'b', 'b']);
    }
    expect(lettersOf(first)).toEqual(['a', 'a', 'a']);
  });

  it('gives records that stay as they are when the buffer is emptied before its end', () => {
    const buffer = new PartitionBuffer(place, 0);
    buffer.accept(answer(blockOf(0, 'a')), 0);
    const first = [buffer.take(), buffer.peek()].filter((record) => record !== undefined);
    buffer.seek(3);
    buffer.accept(answer(blockOf(3, 'b')), 3);
    expect(lettersOf(taken(buffer))).toEqual(['b', 'b', 'b']);
    expect(lettersOf(first)).toEqual(['a', 'a']);
  });

  it('keeps what stands for a damaged batch as it is', () => {
    const buffer = new PartitionBuffer(place, 0);
    const damaged = blockOf(0, 'a');
    damaged[damaged.length - 1] = 7;
    buffer.accept(answer(damaged), 0);
    const record = buffer.take();
    buffer.take();
    buffer.accept(answer(blockOf(3, 'b')), 3);
    expect(record?.undecodable).toContain('checksum');
    expect(record?.value?.equals(damaged)).toBe(true);
  });

  it('uses one block of memory for all that comes one after the other', () => {
    const blocks = [0, 3, 6].map((base) => {
      const fetched = answer(blockOf(base, 'a'));
      const buffer = new PartitionBuffer(place, base);
      const before = process.memoryUsage().arrayBuffers;
      buffer.accept(fetched, base);
      buffer.seek(base + 3);
      return process.memoryUsage().arrayBuffers - before;
    });
    expect(blocks.slice(1).every((bytes) => bytes < 256 * 1024)).toBe(true);
  });
});
