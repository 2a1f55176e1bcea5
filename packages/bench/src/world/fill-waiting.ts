import { RETRY_TIERS, deliveryIdOf, renderNotification, taskHeaders } from '@webhooks/contracts';
import type { DeliveryTask, RetryTier } from '@webhooks/contracts';
import type { Message } from 'kafkajs';
import { makeEvents } from '../load/make-events.js';
import { fillTopic } from './kafka-tools.js';
import type { BenchEndpoint } from './world.js';

/** Tiers in which nothing becomes due while the bench runs. */
const LONG_MS = 3_600_000;
const LONG_TIERS = RETRY_TIERS.filter(({ delayMs }) => delayMs >= LONG_MS);

function* messages(endpoint: BenchEndpoint, tier: RetryTier, count: number): Generator<Message> {
  const now = Date.now();
  const { tenantId, ref } = endpoint;
  for (const { event } of makeEvents({ count, seed: 700_000 + tier.delayMs / 1_000, tenants: [tenantId] })) {
    const task: DeliveryTask = {
      deliveryId: deliveryIdOf(tenantId, ref, event.id),
      cycle: '0',
      eventId: event.id,
      eventType: event.eventType,
      tenantId,
      ref,
      revision: 1,
      attempt: 7,
      dueAt: now + 2 * tier.delayMs,
      firstDueAt: now - tier.delayMs,
      firstAttemptAt: now - tier.delayMs,
      parkedCount: 0,
      origin: { topic: 'payments.events', partition: 0, offset: '0' },
      errorCode: 'CONNECT',
      body: renderNotification(event),
    };
    yield { key: task.deliveryId, value: task.body, headers: taskHeaders(task) };
  }
}

/** Puts retries that are due in hours into the long tiers, evenly, as a worker would write them. */
export async function fillWaiting(
  brokers: readonly string[],
  endpoint: BenchEndpoint,
  count: number,
): Promise<void> {
  const each = Math.ceil(count / LONG_TIERS.length);
  for (const [index, tier] of LONG_TIERS.entries()) {
    const share = Math.max(0, Math.min(each, count - index * each));
    await fillTopic(brokers, tier.topic, messages(endpoint, tier, share));
  }
}
