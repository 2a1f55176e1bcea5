import { ByteReader } from './bytes.js';
import { crc32c } from '@node-rs/crc32';

/** Format version of a record batch (protocol guide, "Record Batch"). */
export const MAGIC = 2;
/** Bytes of base offset and length, which the length does not count. */
export const FRAME_BYTES = 12;
/** Where the bytes begin that the checksum covers. The checksum stands right before. */
export const CHECKED_FROM = 21;
export const HEADER_BYTES = 61;
/** Longest batch, packed or unpacked; brokers allow 1 to 16 MiB. So a damaged length or a bomb takes no gigabytes. */
export const MAX_BYTES = 64 * 1024 * 1024;

export type BatchHeader = ReturnType<typeof readHeader>;

/** Reads the fields of a batch's header, in their order. Throws when the batch's length differs from the one in its header. */
export function readHeader(batch: Buffer) {
  if (endOf(batch, 0) !== batch.length)
    throw new Error(`a batch length of ${batch.readInt32BE(FRAME_BYTES - 4)}`);
  const reader = new ByteReader(batch);
  return {
    base: reader.int64(),
    length: reader.int32(),
    leaderEpoch: reader.int32(),
    magic: reader.int8(),
    checksum: reader.int32(),
    attributes: reader.int16(),
    lastDelta: reader.int32(),
    baseTime: reader.int64(),
    maxTime: reader.int64(),
    producerId: reader.int64(),
    producerEpoch: reader.int16(),
    sequence: reader.int32(),
    count: reader.int32(),
  };
}

/** CRC-32C of a whole batch, as a signed number. */
export const checksumOf = (batch: Buffer): number => crc32c(batch.subarray(CHECKED_FROM)) | 0;

/** Where the batch at `at` ends, possibly beyond the block; undefined when its length is impossible. */
function endOf(block: Buffer, at: number): number | undefined {
  const bytes = FRAME_BYTES + block.readInt32BE(at + FRAME_BYTES - 4);
  return bytes < HEADER_BYTES || bytes > MAX_BYTES ? undefined : at + bytes;
}

/** The batch at `at` of scanned bytes. With a damaged length it is all the rest, because the next batch's place is unknown. */
export function batchAt(block: Buffer, at: number): Buffer {
  return block.subarray(at, endOf(block, at));
}

/**
 * Finds the whole batches. Returns their `bytes` (the fetch limit cut what follows), the offset after the last one (undefined without
 * one), and the bytes that the first batch needs when it is cut. A batch of damaged length ends the block before it; as the first one it
 * is the whole block.
 */
export function scanBatches(block: Buffer) {
  let at = 0;
  let nextOffset: number | undefined;
  while (at + FRAME_BYTES <= block.length) {
    const end = endOf(block, at);
    if (end === undefined && at === 0) return { bytes: block.length, nextOffset: 0, neededBytes: 0 };
    if (end === undefined) break;
    if (end > block.length) return { bytes: at, nextOffset, neededBytes: at === 0 ? end : 0 };
    const batch = block.subarray(at, end);
    nextOffset = offsetAfter(batch, readHeader(batch));
    at = end;
  }
  return { bytes: at, nextOffset, neededBytes: 0 };
}

/**
 * The offset after a batch. The number of offsets that its header names counts only when the number of records agrees, or, after
 * compaction, the checksum. So a damaged header skips no record.
 */
export function offsetAfter(batch: Buffer, { base, magic, lastDelta, count, checksum }: BatchHeader): number {
  // In formats older than 2 the base offset of a wrapper is its last offset.
  if (magic !== MAGIC) return base + 1;
  const offsets = lastDelta + 1;
  const agreed = offsets > 0 && (offsets === count || checksum === checksumOf(batch));
  return base + (agreed ? offsets : 1);
}

/** Throws when the records of a batch cannot be read. */
export function checkBatch(batch: Buffer, { magic, checksum }: BatchHeader): void {
  if (magic !== MAGIC) throw new Error(`message format ${magic}`);
  if (checksum !== checksumOf(batch)) throw new Error('the checksum of the batch does not match');
}
