import { ByteReader } from './bytes.js';
import { crc32c } from '@node-rs/crc32';

// Record batch, magic 2 (protocol guide, "Record Batch").
export const MAGIC = 2;
/** Base offset and length, which the length does not count. */
export const FRAME_BYTES = 12;
/** Where the checksum ends, and what it covers begins. */
export const CHECKED_FROM = 21;
export const HEADER_BYTES = 61;
/** No honest batch is longer, packed or unpacked (the broker's limit is 1–16 MiB): neither a damaged length nor a bomb takes gigabytes. */
export const MAX_BYTES = 64 * 1024 * 1024;

export type BatchHeader = ReturnType<typeof readHeader>;

/** The fields of a batch's header, in their order. Throws when the batch has not the length that it says. */
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

/** Of a whole batch, as a signed number. */
export const checksumOf = (batch: Buffer): number => crc32c(batch.subarray(CHECKED_FROM)) | 0;

export interface BatchScan {
  /** Bytes of whole batches; what follows was cut by the fetch limit. */
  readonly bytes: number;
  /** The offset after the last whole batch; undefined when there is none. */
  readonly nextOffset: number | undefined;
  /** What the first batch needs, when not even that one is whole. */
  readonly neededBytes: number;
}

/** Where the batch at `at` ends, possibly beyond the block; undefined when its length cannot be one. */
function endOf(block: Buffer, at: number): number | undefined {
  const bytes = FRAME_BYTES + block.readInt32BE(at + FRAME_BYTES - 4);
  return bytes < HEADER_BYTES || bytes > MAX_BYTES ? undefined : at + bytes;
}

/** The batch at `at` of scanned bytes; when its length is damaged, all the rest: where the next one begins is unknown. */
export function batchAt(block: Buffer, at: number): Buffer {
  return block.subarray(at, endOf(block, at));
}

/** Finds the whole batches. One of damaged length ends the block before it; as the first one it is the whole block. */
export function scanBatches(block: Buffer): BatchScan {
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
 * The offset after a batch. Nothing may be skipped because of damage, so the number of offsets that it covers counts only
 * when the number of its records (or, after compaction, the checksum) agrees.
 */
export function offsetAfter(batch: Buffer, { base, magic, lastDelta, count, checksum }: BatchHeader): number {
  // Formats older than 2 carry the last offset of a wrapper as its offset.
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
