import { encodeBatch, encodeBody } from '../../src/wire/record-batch.js';
import { crc32c } from '@node-rs/crc32';

const BASE_OFFSET_AT = 0;
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const PRODUCER_AT = 43;
const RECORDS_AT = 61;

export interface BatchShape {
  readonly base: number;
  readonly values: readonly string[];
  readonly attributes?: number;
  readonly producerId?: number;
  readonly magic?: number;
  /** Offsets the batch covers, when compaction left fewer records than that. */
  readonly lastDelta?: number;
  readonly pack?: (records: Buffer) => Buffer;
  readonly key?: Buffer;
  readonly headers?: readonly (readonly [string, Buffer | string | null])[];
  /** What a broken producer wrote, under a checksum that holds. */
  readonly spoil?: (batch: Buffer) => void;
}

/** A record batch as a broker would serve it. */
export function batchOf(shape: BatchShape): Buffer {
  const records = shape.values.map((value) => ({
    body: encodeBody({ key: shape.key ?? null, value, headers: shape.headers ?? [] }),
    timestamp: 1_000,
  }));
  const plain = encodeBatch(records);
  const packed = shape.pack?.(plain.subarray(RECORDS_AT));
  const batch = packed ? Buffer.concat([plain.subarray(0, RECORDS_AT), packed]) : plain;
  batch.writeBigInt64BE(BigInt(shape.base), BASE_OFFSET_AT);
  batch.writeBigInt64BE(BigInt(shape.producerId ?? -1), PRODUCER_AT);
  batch.writeInt32BE(batch.length - 12, LENGTH_AT);
  batch.writeInt8(shape.magic ?? 2, MAGIC_AT);
  batch.writeInt16BE(shape.attributes ?? 0, ATTRIBUTES_AT);
  batch.writeInt32BE(shape.lastDelta ?? Math.max(shape.values.length - 1, 0), LAST_DELTA_AT);
  shape.spoil?.(batch);
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT);
  return batch;
}

export const TRANSACTIONAL = 0x10;
export const CONTROL = 0x20;

/** A marker: `type` 0 aborts, 1 commits. */
export function marker(base: number, producerId: number, type: number): Buffer {
  const key = Buffer.from([0, 0, 0, type]);
  return batchOf({ base, producerId, values: [''], key, attributes: TRANSACTIONAL | CONTROL });
}
