import { hash } from 'node:crypto';
import type { KafkaRecord } from '@webhooks/kafka';

/** Below 4 MiB, the smallest limit of the topics that take copies, with room for headers. */
const MAX_VALUE_BYTES = 3 * 1_048_576;
const MAX_KEY_BYTES = 16_384;
const MAX_HEADER_BYTES = 65_536;

/** Returns headers with the size and the SHA-256 of truncated bytes. */
export const truncationHeaders = (name: string, bytes: Buffer): Record<string, string> => ({
  [`${name}-size`]: String(bytes.byteLength),
  [`${name}-sha256`]: hash('sha256', bytes),
});

function boundedHeaders(headers: KafkaRecord['headers']): Record<string, Buffer> {
  const kept: Record<string, Buffer> = {};
  let capacity = MAX_HEADER_BYTES;
  for (const [name, value] of Object.entries(headers)) {
    capacity -= Buffer.byteLength(name) + value.byteLength;
    if (capacity < 0) break;
    kept[name] = value;
  }
  return kept;
}

function cutKey({ key, partition, offset }: KafkaRecord) {
  const place = `${partition}/${offset}`;
  if (key === null) return { key: place, headers: {} };
  return key.byteLength > MAX_KEY_BYTES
    ? { key: place, headers: truncationHeaders('original-key', key) }
    : { key, headers: {} };
}

function cutValue({ value }: KafkaRecord, maxBytes: number) {
  if (value === null || value.byteLength <= maxBytes) return { value, headers: {} };
  return { value: value.subarray(0, maxBytes), headers: truncationHeaders('original-value', value) };
}

/**
 * Copies a record so that other topics accept it. It has as many of its headers as fit. A key or value that is too
 * large is replaced or truncated, and headers note its size and SHA-256. Without the bounds, publishing a large
 * record would fail and be repeated for ever.
 */
export function boundedCopy(record: KafkaRecord, maxValueBytes = MAX_VALUE_BYTES) {
  const { key, headers: ofKey } = cutKey(record);
  const { value, headers: ofValue } = cutValue(record, maxValueBytes);
  return { key, value, headers: { ...boundedHeaders(record.headers), ...ofKey, ...ofValue } };
}
