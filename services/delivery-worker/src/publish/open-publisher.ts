import { RETRY_TIERS } from '@webhooks/contracts';
import { openSink } from '@webhooks/kafka';
import type { Kafka, OutgoingRecord, Sink } from '@webhooks/kafka';
import type { ServiceScope } from '@webhooks/runtime';
import { createPublishWithRetry } from './publish-with-retry.js';

/**
 * The tier itself, or the next smaller one that exists: whoever reads that moves what is not due. Below the smallest one the next
 * longer.
 */
function standIn(topic: string, missing: readonly string[]): string {
  const asked = RETRY_TIERS.findIndex((tier) => tier.topic === topic);
  const exists = (tier: { readonly topic: string }): boolean => !missing.includes(tier.topic);
  return (RETRY_TIERS.slice(0, asked + 1).findLast(exists) ?? RETRY_TIERS.find(exists))?.topic ?? topic;
}

const TIERS = new Set(RETRY_TIERS.map(({ topic }) => topic));

/** So much later a delivery may come that waits as long as its tier, to the millisecond; others not at all. */
const TIER_LINGER_MS = 100;
/** Company enough: 4,000 deferrals a second would hold 400 records of the window, and encode them in one turn of the event loop. */
const TIER_BATCH = 256;

/**
 * Nobody waits for what is going to wait, so it lingers longer: deferred deliveries are spread over tiers and partitions, and
 * without company each would be a batch, an append and half a request of its own. Two sinks: each may hold 64 MiB.
 */
export async function openPublisher(kafka: Kafka, scope: ServiceScope, missing: () => readonly string[]) {
  const stopping = new AbortController();
  const [prompt, waiting] = await Promise.all([
    openSink({ kafka }),
    openSink({ kafka, lingerMs: TIER_LINGER_MS, maxBatchRecords: TIER_BATCH }),
  ]);
  scope.onClose('sinks', async () => {
    stopping.abort();
    await Promise.all([prompt.close(), waiting.close()]);
  });
  const fault = () => prompt.health().lastError ?? waiting.health().lastError;
  // A source's membership shows whether Kafka is there.
  scope.health.readiness('kafka sink', fault, false);
  // A broker says so itself (too few replicas in sync, say): each restart would only attempt all again.
  const refusal = () => prompt.health().refusal ?? waiting.health().refusal;
  scope.health.readiness('kafka writes', refusal);
  const publishPrompt = createPublishWithRetry(prompt, scope.log, stopping.signal);
  const send: Sink['send'] = (record, options) =>
    waiting.send({ ...record, topic: standIn(record.topic, missing()) }, options);
  const publishWaiting = createPublishWithRetry({ send }, scope.log, stopping.signal);
  return (record: OutgoingRecord) =>
    TIERS.has(record.topic) ? publishWaiting(record) : publishPrompt(record);
}
