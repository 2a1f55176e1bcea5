import { createHash } from 'node:crypto';
import { TOPICS, configurationKey } from '@webhooks/contracts';
import type { ConfigurationRecord } from '@webhooks/contracts';
import type { Message } from 'kafkajs';
import { BENCH_EVENT_TYPE } from '../load/make-events.js';
import { fillTopic } from './kafka-tools.js';

/** As many as a tenant may have. */
const FOR_EACH_TENANT = 1_000;
const AT = '2026-11-21T12:00:00.000Z';

/** A UUID (version 8, RFC 9562 §5.8) for a number: the same each time. */
function refOf(index: number): string {
  const hex = createHash('sha256').update(`configuration ${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function configurationOf(index: number): ConfigurationRecord {
  const tenant = Math.floor(index / FOR_EACH_TENANT);
  return {
    v: 1,
    tenantId: `filler-${tenant}`,
    ref: refOf(index),
    revision: 1,
    eventType: BENCH_EVENT_TYPE,
    endpointUrl: `https://hooks.merchant-${tenant}.com.br/payments/${index}`,
    enabled: true,
    createdAt: AT,
    updatedAt: AT,
  };
}

function* messages(from: number, to: number): Generator<Message> {
  for (let index = from; index < to; index += 1) {
    const record = configurationOf(index);
    yield { key: configurationKey(record.tenantId, record.ref), value: JSON.stringify(record) };
  }
}

/** Adds configurations of other tenants, from number `from` up to `to`, as config-api would publish them. */
export const fillConfigurations = (brokers: readonly string[], from: number, to: number): Promise<void> =>
  fillTopic(brokers, TOPICS.configurations, messages(from, to));
