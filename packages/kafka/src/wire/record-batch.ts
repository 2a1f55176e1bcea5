import { CHECKED_FROM, checksumOf, FRAME_BYTES, HEADER_BYTES, MAGIC } from './batch-frame.js';
import { ByteWriter, varintSize } from './bytes.js';

const NO_PRODUCER = -1;
/** Most bytes that a batch adds to a record's body: length, deltas and attributes. */
export const RECORD_OVERHEAD_BYTES = 24;

/** Bytes, a text that is written as UTF-8, or null. */
type Content = Buffer | string | null;

interface RecordParts {
  readonly key: Content;
  readonly value: Content;
  readonly headers: readonly (readonly [string, Content])[];
}

const lengthOf = (content: Content): number => (content === null ? -1 : Buffer.byteLength(content));

function sizeOf(content: Content): number {
  const length = lengthOf(content);
  return varintSize(length) + Math.max(length, 0);
}

function write(out: ByteWriter, content: Content): void {
  out.varint(lengthOf(content));
  if (content !== null) out.bytes(content);
}

/**
 * Encodes key, value and headers of a record, which do not depend on its place in a batch. The result has its own
 * copy of the bytes.
 */
export function encodeBody({ key, value, headers }: RecordParts): Buffer {
  let size = sizeOf(key) + sizeOf(value) + varintSize(headers.length);
  for (const [name, content] of headers) size += sizeOf(name) + sizeOf(content);
  const out = new ByteWriter(size);
  write(out, key);
  write(out, value);
  out.varint(headers.length);
  for (const [name, content] of headers) {
    write(out, name);
    write(out, content);
  }
  return out.buffer;
}

interface BatchedRecord {
  readonly body: Buffer;
  readonly timestamp: number;
}

/**
 * Encodes records as one uncompressed batch, in order. The batch has no producer id, so brokers do not detect
 * repeated batches.
 */
export function encodeBatch(records: readonly BatchedRecord[]): Buffer {
  const base = records[0]?.timestamp ?? 0;
  let size = HEADER_BYTES;
  let newest = base;
  for (const { body, timestamp } of records) {
    size += body.length + RECORD_OVERHEAD_BYTES;
    newest = Math.max(newest, timestamp);
  }
  const out = new ByteWriter(size);
  const lastDelta = records.length - 1;
  // Offset, length, leader epoch, magic, checksum, attributes. Length and checksum are filled in below.
  out.int64(0).int32(0).int32(-1).int8(MAGIC).int32(0).int16(0);
  out.int32(lastDelta).int64(base).int64(newest);
  out.int64(NO_PRODUCER).int16(NO_PRODUCER).int32(NO_PRODUCER).int32(records.length);
  for (const [index, { body, timestamp }] of records.entries()) {
    const delta = timestamp - base;
    const length = 1 + varintSize(delta) + varintSize(index) + body.length;
    out.varint(length).int8(0).varint(delta).varint(index).bytes(body);
  }
  const batch = out.buffer.subarray(0, out.at);
  batch.writeInt32BE(batch.length - FRAME_BYTES, FRAME_BYTES - 4);
  batch.writeInt32BE(checksumOf(batch), CHECKED_FROM - 4);
  return batch;
}

const MIX = 0x5bd1_e995;

/** MurmurHash2 as in Kafka's Java client (`Utils.murmur2`), signed 32 bits. */
export function murmur2(key: Buffer): number {
  const wholeBytes = key.length & ~3;
  let hash = 0x9747_b28c ^ key.length;
  for (let at = 0; at < wholeBytes; at += 4) {
    const word = Math.imul(key.readInt32LE(at), MIX);
    hash = Math.imul(hash, MIX) ^ Math.imul(word ^ (word >>> 24), MIX);
  }
  if (wholeBytes < key.length) {
    hash = Math.imul(hash ^ key.readUIntLE(wholeBytes, key.length - wholeBytes), MIX);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MIX);
  return hash ^ (hash >>> 15);
}

/** Returns the partition of a key, as Java's default partitioner does. */
export function partitionOf(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fff_ffff) % partitions;
}
