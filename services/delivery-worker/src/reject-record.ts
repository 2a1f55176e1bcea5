import { createHash } from 'node:crypto';
import { TOPICS } from '@webhooks/contracts';
import type { Violation } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { PublishSurely } from './publish-surely.js';

/** Below the 16 MiB of the topic, with room for key and headers. */
const MAX_ORIGINAL_BYTES = 15 * 1_048_576;
const MAX_DETAIL_CHARACTERS = 1_000;

const sizeHeaders = (value: Buffer): Record<string, string> => ({
  'original-size': String(value.byteLength),
  'original-sha256': createHash('sha256').update(value).digest('hex'),
});

/** Writes a record that is no event to `payments.events.rejected`: reason and place in headers, the original bytes as value. */
export function rejectRecord(
  record: KafkaRecord,
  why: { readonly reason: string; readonly violations: readonly Violation[] },
  publish: PublishSurely,
): Promise<void> {
  const { value } = record;
  const isCut = value !== null && value.byteLength > MAX_ORIGINAL_BYTES;
  const detail = why.violations.map(({ property, reason }) => `${property} ${reason}`.trim()).join('; ');
  return publish({
    topic: TOPICS.rejected,
    key: record.key ?? `${record.partition}/${record.offset}`,
    value: isCut ? value.subarray(0, MAX_ORIGINAL_BYTES) : value,
    headers: {
      'reject-reason': why.reason,
      ...(detail === '' ? {} : { 'reject-detail': detail.slice(0, MAX_DETAIL_CHARACTERS) }),
      'origin-topic': record.topic,
      'origin-partition': String(record.partition),
      'origin-offset': String(record.offset),
      'origin-timestamp': String(record.timestamp),
      ...(isCut ? sizeHeaders(value) : {}),
    },
  });
}
