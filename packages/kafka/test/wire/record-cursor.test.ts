import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import type { KafkaRecord } from '../../src/index.js';
import { RecordCursor } from '../../src/wire/record-cursor.js';
import type { AbortedTransaction } from '../../src/wire/protocol.js';
import { batchOf, CONTROL, marker, TRANSACTIONAL } from './batches.js';

const PLACE = { topic: 't', partition: 3 };

function read(batches: readonly Buffer[], from = 0, aborted: readonly AbortedTransaction[] = []) {
  const cursor = new RecordCursor(PLACE, { batches: Buffer.concat(batches), from, aborted });
  const records: KafkaRecord[] = [];
  for (let record = cursor.next(); record !== undefined; record = cursor.next()) records.push(record);
  return { records, position: cursor.position };
}

const seen = (records: readonly KafkaRecord[]) =>
  records.map(({ offset, value, undecodable }) =>
    undecodable === undefined ? `${offset}:${String(value)}` : `${offset}!`,
  );

describe('record cursor', () => {
  it('begins at the requested offset and ends after the last batch', () => {
    const { records, position } = read(
      [batchOf({ base: 10, values: ['a', 'b', 'c'] }), batchOf({ base: 13, values: ['d'] })],
      11,
    );
    expect(seen(records)).toEqual(['11:b', '12:c', '13:d']);
    expect(position).toBe(14);
  });

  it('passes what compaction removed, empty batches included', () => {
    const { records, position } = read([
      batchOf({ base: 0, values: ['a'], lastDelta: 9 }),
      batchOf({ base: 10, values: [], lastDelta: 89 }),
    ]);
    expect(seen(records)).toEqual(['0:a']);
    expect(position).toBe(100);
  });

  it('passes a marker that compaction emptied', () => {
    const emptied = batchOf({
      base: 20,
      values: [],
      lastDelta: 0,
      producerId: 1,
      attributes: TRANSACTIONAL | CONTROL,
    });
    const { records, position } = read([emptied, batchOf({ base: 21, values: ['a'] })], 20);
    expect(seen(records)).toEqual(['21:a']);
    expect(position).toBe(22);
  });

  it('gives a marker that was written wrongly as undecodable, and goes on', () => {
    const spoil = (bytes: Buffer) => bytes.writeInt8(0x7e, 65); // the length of its key
    const attributes = TRANSACTIONAL | CONTROL;
    const spoilt = batchOf({
      base: 20,
      producerId: 1,
      values: [''],
      key: Buffer.alloc(4),
      attributes,
      spoil,
    });
    const { records } = read([spoilt, batchOf({ base: 21, values: ['a'] })], 20);
    expect(seen(records)).toEqual(['20!', '21:a']);
  });

  it('passes records of aborted transactions, including several that began before the block', () => {
    const of = (base: number, producerId: number, value: string) =>
      batchOf({ base, producerId, values: [value], attributes: TRANSACTIONAL });
    const { records, position } = read(
      [
        of(20, 1, 'x'),
        of(21, 2, 'x'),
        of(22, 3, 'good'),
        marker(23, 1, 0),
        of(24, 1, 'good again'),
        of(25, 2, 'x'),
        marker(26, 2, 0),
        marker(27, 3, 1),
      ],
      20,
      [
        { producerId: 2, firstOffset: 12 },
        { producerId: 1, firstOffset: 5 },
      ],
    );
    expect(seen(records)).toEqual(['22:good', '24:good again']);
    expect(position).toBe(28);
  });

  it.each([
    [
      'an unknown codec',
      batchOf({ base: 5, values: ['a', 'b'], attributes: 7 }),
      /unknown compression codec 7/,
    ],
    [
      'bytes that are not what the codec says',
      batchOf({ base: 5, values: ['a', 'b'], attributes: 1 }),
      /header/,
    ],
    [
      'damaged zstd',
      batchOf({ base: 5, values: ['a', 'b'], attributes: 4, pack: (b) => zstdCompressSync(b).fill(0x55, 8) }),
      /./,
    ],
    [
      'damaged lz4',
      batchOf({ base: 5, values: ['a', 'b'], attributes: 3, pack: (b) => deflateRawSync(b) }),
      /./,
    ],
    [
      'damaged snappy',
      batchOf({ base: 5, values: ['a', 'b'], attributes: 2, pack: () => Buffer.alloc(9, 0xff) }),
      /./,
    ],
    ['an older message format', batchOf({ base: 6, values: ['a', 'b'], magic: 1 }), /message format 1/],
  ])(
    'gives %s as one undecodable record with the bytes of the batch, and goes on',
    (_name, batch, reason) => {
      const { records, position } = read(
        [batchOf({ base: 4, values: ['before'] }), batch, batchOf({ base: 7, values: ['after'] })],
        4,
      );
      expect(seen(records)).toEqual(['4:before', '5!', '7:after']);
      expect(records[1]?.undecodable).toMatch(reason);
      expect(records[1]?.value?.equals(batch)).toBe(true);
      expect(position).toBe(8);
    },
  );

  it('gives the readable records of a batch that was written wrongly', () => {
    const spoil = (bytes: Buffer) => bytes.fill(0x7f, bytes.length - 6);
    const batch = batchOf({ base: 0, values: ['a', 'b', 'c'], spoil });
    const { records, position } = read([batch, batchOf({ base: 3, values: ['d'] })]);
    expect(seen(records)).toEqual(['0:a', '1:b', '2!', '3:d']);
    expect(position).toBe(4);
  });

  it.each([
    ['its records', (batch: Buffer) => batch.fill(0x7f, batch.length - 6)],
    ['its attributes', (batch: Buffer) => batch.writeInt16BE(CONTROL, 21)],
    ['the number of its records', (batch: Buffer) => batch.writeInt32BE(7, 57)],
    ['the offsets that it covers, far too many', (batch: Buffer) => batch.writeInt32BE(1_000_000, 23)],
    ['the offsets that it covers, less than none', (batch: Buffer) => batch.writeInt32BE(-5, 23)],
  ])('gives a batch whose checksum does not match as one undecodable record: %s', (_name, damage) => {
    const batch = batchOf({ base: 1, values: ['b', 'c'] });
    damage(batch);
    const { records, position } = read([
      batchOf({ base: 0, values: ['a'] }),
      batch,
      batchOf({ base: 3, values: ['d'] }),
    ]);
    expect(seen(records)).toEqual(['0:a', '1!', '3:d']);
    expect(records[1]?.undecodable).toMatch(/checksum/);
    expect(position).toBe(4);
  });

  it('gives a batch before the requested offset as undecodable, once', () => {
    const { records, position } = read([batchOf({ base: 0, values: ['a', 'b'] })], 10);
    expect(seen(records)).toEqual(['10!']);
    expect(position).toBe(11);
  });

  it.each([
    ['gzip', 1, (bytes: Buffer) => gzipSync(bytes)],
    ['lz4', 3, (bytes: Buffer) => compressFrameSync(bytes)],
    ['zstd', 4, (bytes: Buffer) => zstdCompressSync(bytes)],
  ])('refuses to decompress a bomb of %s beyond 64 MiB', (_name, attributes, pack) => {
    const bomb = batchOf({
      base: 0,
      values: ['a'],
      attributes,
      pack: () => pack(Buffer.alloc(80 * 1024 * 1024)),
    });
    const { records } = read([bomb]);
    expect(seen(records)).toEqual(['0!']);
  });
});
