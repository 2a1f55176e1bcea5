import { ByteWriter, varintSize } from './bytes.js';
import { crc32c } from '@node-rs/crc32';

// Record batch, magic 2 (protocol guide, "Record Batch").
const MAGIC = 2;
const LENGTH_STARTS_AT = 12;
const CRC_AT = 17;
const CHECKED_FROM = 21;
const HEADER_BYTES = 61;
const NO_PRODUCER = -1;

/** Text is written as UTF-8, without a buffer of its own. */
type Content = Buffer | string | null;

export interface RecordParts {
  readonly key: Content;
  readonly value: Content;
  readonly headers: readonly (readonly [string, Content])[];
}

const lengthOf = (content: Buffer | string): number =>
  typeof content === 'string' ? Buffer.byteLength(content) : content.length;

function sizeOf(content: Content): number {
  if (content === null) return 1;
  const length = lengthOf(content);
  return varintSize(length) + length;
}

function write(out: ByteWriter, content: Content): void {
  out.varint(content === null ? -1 : lengthOf(content));
  if (typeof content === 'string') out.text(content);
  else if (content !== null) out.bytes(content);
}

/** Key, value and headers of a record: all of it that does not depend on its place in a batch. A copy. */
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

export interface BatchedRecord {
  readonly body: Buffer;
  readonly timestamp: number;
}

/** An uncompressed batch of records, in order, without producer id: at least once, never "exactly" by accident. */
export function encodeBatch(records: readonly BatchedRecord[]): Buffer {
  const base = records[0]?.timestamp ?? 0;
  let size = HEADER_BYTES;
  let newest = base;
  const lengths = records.map(({ body, timestamp }, index) => {
    const length = 1 + varintSize(timestamp - base) + varintSize(index) + body.length;
    size += varintSize(length) + length;
    newest = Math.max(newest, timestamp);
    return length;
  });
  const out = new ByteWriter(size);
  out
    .int64(0)
    .int32(size - LENGTH_STARTS_AT)
    .int32(-1)
    .int8(MAGIC)
    .uint32(0);
  out
    .int16(0)
    .int32(records.length - 1)
    .int64(base)
    .int64(newest);
  out.int64(NO_PRODUCER).int16(NO_PRODUCER).int32(NO_PRODUCER).int32(records.length);
  records.forEach(({ body, timestamp }, index) => {
    out
      .varint(lengths[index] ?? 0)
      .int8(0)
      .varint(timestamp - base)
      .varint(index)
      .bytes(body);
  });
  out.buffer.writeUInt32BE(crc32c(out.buffer.subarray(CHECKED_FROM)), CRC_AT);
  return out.buffer;
}
