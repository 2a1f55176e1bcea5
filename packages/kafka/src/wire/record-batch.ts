import { ByteWriter, varintSize } from './bytes.js';
import { crc32c } from './crc32c.js';

// Record batch, magic 2 (protocol guide, "Record Batch").
const MAGIC = 2;
const LENGTH_STARTS_AT = 12;
const CRC_AT = 17;
const CHECKED_FROM = 21;
const HEADER_BYTES = 61;
const NO_PRODUCER = -1;

export interface RecordParts {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [string, Buffer])[];
}

function nullableSize(bytes: Buffer | null): number {
  return bytes === null ? 1 : varintSize(bytes.length) + bytes.length;
}

function writeNullable(out: ByteWriter, bytes: Buffer | null): void {
  if (bytes === null) out.varint(-1);
  else out.varint(bytes.length).bytes(bytes);
}

/** Key, value and headers of a record: all of it that does not depend on its place in a batch. A copy. */
export function encodeBody({ key, value, headers }: RecordParts): Buffer {
  const names = headers.map(([name]) => Buffer.from(name));
  let size = nullableSize(key) + nullableSize(value) + varintSize(headers.length);
  headers.forEach(([, bytes], index) => {
    size += nullableSize(names[index] ?? null) + nullableSize(bytes);
  });
  const out = new ByteWriter(size);
  writeNullable(out, key);
  writeNullable(out, value);
  out.varint(headers.length);
  headers.forEach(([, bytes], index) => {
    writeNullable(out, names[index] ?? null);
    writeNullable(out, bytes);
  });
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
