import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { scanBatches } from '../../src/wire/batch-frame.js';
import { crc32c } from '@node-rs/crc32';
import { RecordCursor } from '../../src/wire/record-cursor.js';
import { batchOf } from './batches.js';

const PLACE = { topic: 't', partition: 3 };
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const GZIP = 1;
const BASE = 100;
const GOOD = [
  batchOf({ base: BASE, values: ['a', 'b', 'c'], headers: [['name', 'value']] }),
  batchOf({ base: BASE, values: ['a', 'b', 'c'], attributes: GZIP, pack: gzipSync }),
];
/** Behind any damage. */
const NEXT = batchOf({ base: BASE + 3, values: ['next'] });

/** A batch with a few of its bytes changed, under a checksum that holds or not. */
const damaged = fc
  .record({
    good: fc.constantFrom(...GOOD),
    changes: fc.array(fc.tuple(fc.integer({ min: ATTRIBUTES_AT, max: 200 }), fc.nat(255)), { maxLength: 5 }),
    isSealed: fc.boolean(),
  })
  .map(({ good, changes, isSealed }) => {
    const batch = Buffer.from(good);
    for (const [at, byte] of changes) if (at < batch.length) batch[at] = byte;
    if (isSealed) batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT);
    return batch;
  });

it('whatever bytes a batch holds, its records are given or reported as undecodable, in order, and the reader passes it', () => {
  fc.assert(
    fc.property(damaged, (batch) => {
      const batches = Buffer.concat([batch, NEXT]);
      const cursor = new RecordCursor(PLACE, { batches, from: BASE, aborted: [] });
      let [last, position] = [BASE - 1, BASE];
      for (let record = cursor.next(); record !== undefined; record = cursor.next()) {
        expect(record.offset).toBeGreaterThan(last);
        expect(cursor.position).toBeGreaterThan(position - 1);
        [last, position] = [record.offset, cursor.position];
      }
      expect(cursor.position).toBeGreaterThanOrEqual(BASE + 4);
    }),
    { numRuns: 500 },
  );
});

it('whatever bytes a block holds, whole batches are found within it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), damaged, (bytes, batch) => {
      const block = Buffer.concat([batch, bytes]);
      expect(() => scanBatches(block)).not.toThrow();
    }),
  );
});
