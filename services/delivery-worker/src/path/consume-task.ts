import { DUE_AT, headerNumber, parseDeliveryTask, tierFor, TOPICS } from '@webhooks/contracts';
import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { originOf } from './consume-event.js';
import type { Settlement } from './decide.js';
import { publishWaiting } from './settle.js';
import type { SettledMemory } from './settled-memory.js';
import { boundedCopy } from '../publish/bounded-copy.js';
import type { PublishWithRetry } from '../publish/publisher.js';

export interface ConsumeTaskPorts {
  readonly publish: PublishWithRetry;
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<Settlement['kind']>;
  readonly settled: SettledMemory;
  /** Maximum age of a delivery, milliseconds. */
  readonly maxAgeMs: number;
  /** Reports a record that cannot be read or handled. */
  readonly damaged: (record: KafkaRecord, reason: string) => void;
}

/**
 * Publishes a damaged task to the dead letters, with as much of its headers and bytes as the topic accepts, and
 * reports it.
 */
export async function publishDamaged(
  record: KafkaRecord,
  reason: string,
  ports: Pick<ConsumeTaskPorts, 'publish' | 'damaged'>,
): Promise<void> {
  const { key, value, headers } = boundedCopy(record);
  await ports.publish({
    topic: TOPICS.deadLetters,
    key,
    value,
    headers: {
      ...headers,
      'dead-reason': reason,
      'dead-at': String(Date.now()),
      'damaged-topic': record.topic,
      'damaged-partition': String(record.partition),
      'damaged-offset': String(record.offset),
    },
  });
  ports.damaged(record, reason);
}

/** First wait of a deferred record, milliseconds. Later waits are a quarter of its age: about 40 in 8 days. */
const FIRST_WAIT_MS = 60_000;

/** Writes a record unchanged to a retry tier, with a new due time. */
async function publishUnchanged(
  record: KafkaRecord,
  { dueAt, waitMs }: { readonly dueAt: number; readonly waitMs: number },
  publish: PublishWithRetry,
): Promise<void> {
  const { key, value, headers } = boundedCopy(record);
  await publish({
    topic: tierFor(waitMs).topic,
    key,
    value,
    headers: { ...headers, [DUE_AT]: String(dueAt) },
  });
}

/** Defers a record unchanged. At its maximum age the record goes to the dead letters as damaged, with the reason. */
export async function deferRecord(
  record: KafkaRecord,
  reason: string,
  ports: Pick<ConsumeTaskPorts, 'publish' | 'damaged' | 'maxAgeMs'>,
): Promise<void> {
  const now = Date.now();
  const limit = (headerNumber(record.headers, 'first-due-at') ?? 0) + ports.maxAgeMs;
  if (now >= limit) return publishDamaged(record, reason, ports);
  const waitMs = Math.min(Math.max(FIRST_WAIT_MS, (now - (limit - ports.maxAgeMs)) / 4), limit - now);
  return publishUnchanged(record, { dueAt: Math.ceil(now + waitMs), waitMs }, ports.publish);
}

/** Whether the record is a fan-out. Only a task has a `delivery-id`. */
const isFanOut = ({ headers }: KafkaRecord): boolean =>
  headers['delivery-id'] === undefined && headers['event-id'] !== undefined;

/** Handles one record of `webhooks.deliveries`, or a due one of `webhooks.retries.*`: read → deliver. */
export async function consumeTask(record: KafkaRecord, ports: ConsumeTaskPorts): Promise<void> {
  if (isFanOut(record)) return ports.publish({ ...boundedCopy(record), topic: TOPICS.fanOuts });
  const parsed =
    record.undecodable === undefined
      ? parseDeliveryTask(record.headers, record.value)
      : { ok: false as const, reason: 'undecodable', isUnknown: false };
  if (!parsed.ok)
    return parsed.isUnknown
      ? // A newer version wrote the record, so only a newer worker can read it.
        deferRecord(record, parsed.reason, ports)
      : publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  return ports.settled.once(task, () => ports.deliver(task, originOf(record)));
}

interface MoveTaskPorts extends Pick<ConsumeTaskPorts, 'publish' | 'damaged'> {
  /**
   * Longest remaining wait of a task, milliseconds. Without this bound, a task due in a hundred years would
   * circulate until then.
   */
  readonly maxWaitMs: number;
}

/** Moves a record to the largest tier that is not longer than its remaining wait. */
export async function moveTask(
  record: KafkaRecord,
  remainingMs: number,
  { maxWaitMs, ...ports }: MoveTaskPorts,
): Promise<void> {
  const parsed = parseDeliveryTask(record.headers, record.value);
  if (!parsed.ok && (parsed.isUnknown || isFanOut(record))) {
    const waitMs = Math.min(remainingMs, maxWaitMs);
    return publishUnchanged(record, { dueAt: Date.now() + waitMs, waitMs }, ports.publish);
  }
  if (!parsed.ok) return publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  if (remainingMs <= maxWaitMs) return publishWaiting(ports.publish, task, remainingMs);
  return publishWaiting(ports.publish, { ...task, dueAt: Date.now() + maxWaitMs }, maxWaitMs);
}
