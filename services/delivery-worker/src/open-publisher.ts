import { RETRY_TIERS } from '@webhooks/contracts';
import { openSink } from '@webhooks/kafka';
import type { Kafka } from '@webhooks/kafka';
import type { ServiceScope } from '@webhooks/runtime';
import { createPublishSurely } from './publish-surely.js';
import type { PublishSurely } from './publish-surely.js';
import { TIER_LINGER_MS } from './settle.js';

const TIERS = new Set(RETRY_TIERS.map(({ topic }) => topic));

/**
 * Nobody waits for what is going to wait, so it lingers longer: parked deliveries are spread over tiers and partitions, and
 * without company each would be a batch, an append and half a request of its own.
 */
export async function openPublisher(kafka: Kafka, scope: ServiceScope): Promise<PublishSurely> {
  const stopping = new AbortController();
  const [prompt, waiting] = await Promise.all([
    openSink({ kafka }),
    openSink({ kafka, lingerMs: TIER_LINGER_MS }),
  ]);
  scope.onClose('sinks', async () => {
    stopping.abort();
    await Promise.all([prompt.close(), waiting.close()]);
  });
  scope.health.readiness('kafka sink', () => prompt.health().lastError ?? waiting.health().lastError);
  const publishPrompt = createPublishSurely(prompt, scope.log, stopping.signal);
  const publishWaiting = createPublishSurely(waiting, scope.log, stopping.signal);
  return (record) => (TIERS.has(record.topic) ? publishWaiting(record) : publishPrompt(record));
}
