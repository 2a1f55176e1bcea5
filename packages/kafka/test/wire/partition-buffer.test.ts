import { gzipSync } from 'node:zlib';
import type { KafkaRecord } from '../../src/index.js';
import { BlockPool } from '../../src/wire/block-pool.js';
import { headerOf } from '../../src/wire/fetched-record.js';
import { PartitionBuffer } from '../../src/wire/partition-buffer.js';
import { batchOf, type BatchShape } from './batches.js';

const PLACE = { topic: 't', partition: 0 };
const answer = (records: Buffer) => ({
  ...PLACE,
  errorCode: 0,
  highWatermark: 10,
  lastStableOffset: 10,
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
      buffer.accept(answer(batch), 3);
      expect(buffer.take()).toMatchObject({ offset: 3, undecodable: `a batch length of ${length}` });
      expect(buffer.take()).toBeUndefined();
      expect(buffer).toMatchObject({ position: 4, nextFetch: 4, full: false });
    },
  );

  it('goes on behind a batch that lies before what was asked for', () => {
    const buffer = new PartitionBuffer(PLACE, 10);
    buffer.accept(answer(batchOf({ base: 0, values: ['a'] })), 10);
    expect(buffer.take()).toMatchObject({ offset: 10 });
    expect(buffer.take()).toBeUndefined();
    expect(buffer).toMatchObject({ position: 11, nextFetch: 11 });
  });

  it('asks for more when the first batch was cut, and gives nothing of it', () => {
    const buffer = new PartitionBuffer(PLACE, 3);
    const batch = batchOf({ base: 3, values: ['x'.repeat(300_000)] });
    buffer.accept(answer(batch.subarray(0, 256 * 1024)), 3);
    expect(buffer.take()).toBeUndefined();
    expect(buffer).toMatchObject({ position: 3, nextFetch: 3, maxBytes: batch.length });
  });
});

describe('a partition buffer whose blocks are used again', () => {
  const KEY = Buffer.from('k');
  const HEADERS = [['h', 'v']] as const;
  /** So long that one block does not hold two of them. */
  const blockOf = (base: number, letter: string, shape: Partial<BatchShape> = {}) =>
    batchOf({
      base,
      values: [1, 2, 3].map(() => letter.repeat(60_000)),
      key: KEY,
      headers: HEADERS,
      ...shape,
    });
  const BLOCK_BYTES = 256 * 1024;

  function taken(buffer: PartitionBuffer): KafkaRecord[] {
    const records: KafkaRecord[] = [];
    for (let record = buffer.take(); record !== undefined; record = buffer.take()) records.push(record);
    return records;
  }

  const textOf = ({ value }: KafkaRecord) => [...new Set(value?.toString())].join('');
  const seen = (records: readonly KafkaRecord[]) =>
    records.map((record) => {
      const header = headerOf(record, 'h')?.toString();
      return `${record.offset} ${String(record.key)} ${String(header)} ${textOf(record)}`;
    });

  function open() {
    const blocks = new BlockPool();
    return { blocks, buffer: new PartitionBuffer(PLACE, 0, { blocks }) };
  }

  it.each<[string, Partial<BatchShape>]>([
    ['plain', {}],
    ['packed', { attributes: 1, pack: (bytes) => Buffer.concat([gzipSync(bytes), Buffer.alloc(200_000)]) }],
  ])('gives %s records that stay as they are when later blocks come', (_name, shape) => {
    const { blocks, buffer } = open();
    buffer.accept(answer(blockOf(0, 'a', shape)), 0);
    expect(blocks.spareBytes).toBe(0);
    const first = taken(buffer);
    for (const base of [3, 6]) {
      expect(blocks.spareBytes).toBe(BLOCK_BYTES);
      buffer.accept(answer(blockOf(base, 'b', shape)), base);
      expect(blocks.spareBytes).toBe(0);
      expect(seen(taken(buffer))).toEqual([0, 1, 2].map((index) => `${base + index} k v b`));
    }
    expect(seen(first)).toEqual(['0 k v a', '1 k v a', '2 k v a']);
  });

  it('gives records that count their own bytes only', () => {
    const { buffer } = open();
    buffer.accept(answer(blockOf(0, 'a')), 0);
    for (const { size } of taken(buffer)) expect(size).toBeLessThan(60_100);
  });

  it('gives records that stay as they are when the buffer is emptied before its end', () => {
    const { blocks, buffer } = open();
    buffer.accept(answer(blockOf(0, 'a')), 0);
    const first = [buffer.take(), buffer.peek()].filter((record) => record !== undefined);
    buffer.seek(3);
    expect(blocks.spareBytes).toBe(BLOCK_BYTES);
    buffer.accept(answer(blockOf(3, 'b')), 3);
    expect(blocks.spareBytes).toBe(0);
    expect(seen(taken(buffer))).toEqual(['3 k v b', '4 k v b', '5 k v b']);
    expect(seen(first)).toEqual(['0 k v a', '1 k v a']);
  });

  const spoiled = (batch: Buffer) => {
    batch[batch.length - 1] = 7;
    return batch;
  };
  it.each([
    ['a checksum', 'checksum', spoiled(blockOf(0, 'a'))],
    ['a codec', 'unknown compression codec 7', blockOf(0, 'a', { attributes: 7 })],
  ])('keeps a batch that %s makes unreadable as it is', (_what, reason, batch) => {
    const { blocks, buffer } = open();
    buffer.accept(answer(batch), 0);
    const [record] = taken(buffer);
    buffer.accept(answer(blockOf(3, 'b')), 3);
    expect(blocks.spareBytes).toBe(0);
    expect(record?.undecodable).toContain(reason);
    expect(record?.value?.equals(batch)).toBe(true);
  });
});
