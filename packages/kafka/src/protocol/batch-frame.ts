import { readInt64 } from './bytes.js';
import { crc32c } from '@node-rs/crc32';

// Record batch, magic 2 (protocol guide, "Record Batch"): where its fields lie.
export const AT = {
  length: 8,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastDelta: 23,
  baseTime: 27,
  maxTime: 35,
  producer: 43,
  count: 57,
  records: 61,
} as const;
/** Base offset and length, which the length does not count. */
const FRAME_BYTES = 12;
const MIN_LENGTH = AT.records - FRAME_BYTES;
/** No honest batch is longer (the broker's limit is 1–16 MiB): a damaged length must not make us request gigabytes. */
const MAX_LENGTH = 64 * 1024 * 1024;
const MAGIC = 2;

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
  const length = block.readInt32BE(at + AT.length);
  return length < MIN_LENGTH || length > MAX_LENGTH ? undefined : at + FRAME_BYTES + length;
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
    nextOffset = offsetAfter(block.subarray(at, end));
    at = end;
  }
  return { bytes: at, nextOffset, neededBytes: 0 };
}

export const isCurrentFormat = (batch: Buffer): boolean => batch[AT.magic] === MAGIC;

function checksumHolds(batch: Buffer): boolean {
  return batch.readUInt32BE(AT.crc) === crc32c(batch.subarray(AT.attributes));
}

/**
 * The offset after a batch, 0 when its frame is damaged. Nothing may be skipped because of damage, so the number of
 * offsets that it covers counts only when the number of its records (or, after compaction, the checksum) agrees.
 */
export function offsetAfter(batch: Buffer): number {
  if (endOf(batch, 0) !== batch.length) return 0;
  const base = readInt64(batch, 0);
  // Formats older than 2 carry the last offset of a wrapper as its offset.
  if (!isCurrentFormat(batch)) return base + 1;
  const offsets = batch.readInt32BE(AT.lastDelta) + 1;
  const agreed = offsets > 0 && (offsets === batch.readInt32BE(AT.count) || checksumHolds(batch));
  return base + (agreed ? offsets : 1);
}

/** Why a batch cannot be read; undefined when it can. `position` is the offset that it was fetched for. */
export function batchFault(batch: Buffer, position: number): string | undefined {
  if (endOf(batch, 0) !== batch.length) return `a batch length of ${batch.readInt32BE(AT.length)}`;
  if (!isCurrentFormat(batch)) return `message format ${String(batch[AT.magic])}`;
  if (!checksumHolds(batch)) return 'the checksum of the batch does not match';
  return offsetAfter(batch) > position ? undefined : 'the batch ends before the requested offset';
}
