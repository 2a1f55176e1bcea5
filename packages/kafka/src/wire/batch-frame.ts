import { ByteReader } from './bytes.js';
import { crc32c } from '@node-rs/crc32';

/** Format version of a record batch (protocol guide, "Record Batch"). */
export const MAGIC = 2;
/** Bytes of the base offset and the length field, which the length does not include. */
export const FRAME_BYTES = 12;
/** Where the bytes begin that the checksum covers. The checksum is right before them. */
export const CHECKED_FROM = 21;
/** Bytes of a batch before its records. */
export const HEADER_BYTES = 61;
/**
 * Largest batch, compressed or decompressed; brokers allow 1 to 16 MiB. So a corrupt length or a decompression bomb
 * takes no gigabytes.
 */
export const MAX_BYTES = 64 * 1024 * 1024;

export type BatchHeader = ReturnType<typeof readHeader>;

/**
 * Reads the fields of a batch's header, in their order. Throws when the batch's length differs from the length in
 * its header.
 */
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

/** Returns where the batch at `at` ends, possibly beyond the block; undefined when its length is impossible. */
function endOf(block: Buffer, at: number): number | undefined {
  const bytes = FRAME_BYTES + block.readInt32BE(at + FRAME_BYTES - 4);
  return bytes < HEADER_BYTES || bytes > MAX_BYTES ? undefined : at + bytes;
}

/**
 * Returns the batch at `at` of scanned bytes. With a corrupt length, returns all remaining bytes, because the place
 * of the next batch is unknown.
 */
export function batchAt(block: Buffer, at: number): Buffer {
  return block.subarray(at, endOf(block, at));
}

/**
 * Finds the complete batches of a block. `bytes`: their length; an incomplete batch at the fetch limit follows.
 * `nextOffset`: the offset after the last complete batch, undefined without one. `neededBytes`: the size of the
 * first batch when it is incomplete, otherwise 0. A batch with a corrupt length ends the block before it. As the
 * first batch, it is the whole block.
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
 * Returns the offset after a batch. The header's number of offsets is used only when the number of records agrees,
 * or, after compaction, the checksum. Otherwise the batch counts as one offset. So a corrupt header skips no record.
 */
export function offsetAfter(batch: Buffer, { base, magic, lastDelta, count, checksum }: BatchHeader): number {
  // In formats before version 2, the base offset of a compressed message is its last offset.
  if (magic !== MAGIC) return base + 1;
  const offsets = lastDelta + 1;
  const agreed = offsets > 0 && (offsets === count || checksum === checksumOf(batch));
  return base + (agreed ? offsets : 1);
}

/** Throws when the batch's records cannot be read: another format, or a wrong checksum. */
export function checkBatch(batch: Buffer, { magic, checksum }: BatchHeader): void {
  if (magic !== MAGIC) throw new Error(`message format ${magic}`);
  if (checksum !== checksumOf(batch)) throw new Error('the checksum of the batch does not match');
}
