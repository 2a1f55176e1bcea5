import { gzipSync } from 'node:zlib';
import { PartitionTracker } from '../../src/source/partition-tracker.js';
import { headerOf } from '../../src/wire/record-cursor.js';
import { batchOf, type BatchShape } from './batches.js';

const PLACE = { topic: 't', partition: 0 };

const openTracker = () =>
  new PartitionTracker({ ...PLACE, offset: 0, at: undefined }, { now: Date.now, onFetched: () => undefined });

/** What a record in flight keeps in memory: the first of a block. */
function firstOf(shape: Partial<BatchShape>) {
  const tracker = openTracker();
  const records = batchOf({
    base: 0,
    values: ['small', 'x'.repeat(1_000_000)],
    key: Buffer.from('k'),
    ...shape,
  });
  tracker.accept(
    { ...PLACE, errorCode: 0, highWatermark: 2, logStart: 0, aborted: [], records },
    { offset: 0 },
  );
  const record = tracker.begin()?.record;
  if (record === undefined) throw new Error('no record');
  return record;
}

const heldBytes = (bytes: Buffer | null) => bytes?.buffer.byteLength;

describe('a record in flight', () => {
  it.each([
    ['plain', {}],
    ['packed', { attributes: 1, pack: (bytes: Buffer) => gzipSync(bytes) }],
  ])('of a large %s block has bytes of its own', (_name, shape) => {
    const record = firstOf(shape);
    expect(record).toMatchObject({ offset: 0, timestamp: 1_000, size: expect.any(Number) as number });
    expect(String(record.value)).toBe('small');
    expect(String(record.key)).toBe('k');
    expect(heldBytes(record.value)).toBeLessThanOrEqual(Buffer.poolSize);
    expect(heldBytes(record.key)).toBeLessThanOrEqual(Buffer.poolSize);
  });

  it('owns its bytes when it stands for a damaged batch', () => {
    const damaged = batchOf({ base: 0, values: ['a'] });
    damaged[damaged.length - 1] = 7;
    const block = Buffer.concat([damaged, batchOf({ base: 1, values: ['x'.repeat(1_000_000)] })]);
    const tracker = openTracker();
    tracker.accept(
      { ...PLACE, errorCode: 0, highWatermark: 2, logStart: 0, aborted: [], records: block },
      { offset: 0 },
    );
    const record = tracker.begin()?.record;
    expect(record?.undecodable).toMatch(/checksum/);
    expect(record?.value?.equals(damaged)).toBe(true);
    expect(heldBytes(record?.value ?? null)).toBeLessThanOrEqual(Buffer.poolSize);
  });
});

describe('headers of a record', () => {
  const headers = [
    ['due-at', '1'],
    ['größe', 'ein Maß'],
    ['due-to', Buffer.from([0xff, 0])],
    ['due-at', '17'],
    ['nothing', null],
    ['empty', ''],
  ] as const;

  it.each([
    ['due-at', '17'],
    ['größe', 'ein Maß'],
    ['due-to', Buffer.from([0xff, 0])],
    ['nothing', ''],
    ['empty', ''],
  ])('%s: the last of its name, as text or bytes', (name, value) => {
    expect(firstOf({ headers }).headers[name]).toEqual(Buffer.from(value));
  });

  it.each(['due-at', 'due-to', 'nothing', 'empty', 'due', 'toString'])(
    'read %j alone as with all',
    (name) => {
      for (const record of [firstOf({ headers }), firstOf({})])
        expect(headerOf(record, name)).toEqual(record.headers[name]);
    },
  );

  it('end at the damage, read one by one or all together', () => {
    const spoil = (batch: Buffer) => void batch.writeInt8(0x7e, batch.indexOf('behind') - 1);
    const record = firstOf({
      values: ['v'],
      headers: [
        ['a', '1'],
        ['behind', '2'],
        ['c', '3'],
      ],
      spoil,
    });
    expect(record.headers).toEqual({ a: Buffer.from('1') });
    expect(['a', 'behind', 'c'].map((name) => headerOf(record, name))).toEqual([
      Buffer.from('1'),
      undefined,
      undefined,
    ]);
  });
});
