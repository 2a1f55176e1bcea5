import { createHash } from 'node:crypto';
import { TOPICS } from '@webhooks/contracts';
import type { Violation } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { boundedCopy } from '../publish/bounded-copy.js';
import type { PublishWithRetry } from '../publish/publish-with-retry.js';

/** Below the 16 MiB of the topic, with room for key and headers. */
const MAX_ORIGINAL_BYTES = 15 * 1_048_576;
const MAX_DETAIL_CHARACTERS = 1_000;

const sizeHeaders = (original: Buffer | null): Record<string, string> =>
  original === null
    ? {}
    : {
        'original-size': String(original.byteLength),
        'original-sha256': createHash('sha256').update(original).digest('hex'),
      };

/** Writes a record that is no event to `payments.events.rejected`: reason and place in headers, the original bytes as value. */
export function rejectRecord(
  record: KafkaRecord,
  why: { readonly reason: string; readonly violations: readonly Violation[] },
  publish: PublishWithRetry,
): Promise<void> {
  const { key, value } = boundedCopy(record, MAX_ORIGINAL_BYTES);
  const isCut = value !== null && value.byteLength !== record.value?.byteLength;
  const detail = why.violations.map(({ property, reason }) => `${property} ${reason}`.trim()).join('; ');
  return publish({
    topic: TOPICS.rejected,
    key,
    value,
    headers: {
      'reject-reason': why.reason,
      ...(detail === '' ? {} : { 'reject-detail': detail.slice(0, MAX_DETAIL_CHARACTERS) }),
      'origin-topic': record.topic,
      'origin-partition': String(record.partition),
      'origin-offset': String(record.offset),
      'origin-timestamp': String(record.timestamp),
      ...(isCut ? sizeHeaders(record.value) : {}),
    },
  });
}
