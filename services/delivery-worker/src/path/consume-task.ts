import { DUE_AT, dueAtOf, headerNumber, parseDeliveryTask, tierFor, TOPICS } from '@webhooks/contracts';
import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { originOf } from './consume-event.js';
import type { Settlement } from './decide.js';
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
  const why = record.undecodable === undefined ? reason : 'undecodable';
  await ports.publish({
    topic: TOPICS.deadLetters,
    key,
    value,
    headers: {
      ...headers,
      'dead-reason': why,
      'dead-at': String(Date.now()),
      'damaged-topic': record.topic,
      'damaged-partition': String(record.partition),
      'damaged-offset': String(record.offset),
    },
  });
  ports.damaged(record, why);
}

/** First wait of a deferred record, milliseconds. Later waits are a quarter of its age: about 40 in 8 days. */
const FIRST_WAIT_MS = 60_000;

/** Writes a record to the retry tier that fits its wait. Only its due time changes. */
function publishUnchanged(record: KafkaRecord, dueAt: number, publish: PublishWithRetry): Promise<void> {
  const { key, value, headers } = boundedCopy(record);
  return publish({
    topic: tierFor(dueAt - Date.now()).topic,
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
  return publishUnchanged(record, Math.ceil(now + waitMs), ports.publish);
}

/** Whether the record is a fan-out. Only a task has a `delivery-id`. */
const isFanOut = ({ headers }: KafkaRecord): boolean =>
  headers['delivery-id'] === undefined && headers['event-id'] !== undefined;

/** Handles one record of `webhooks.deliveries`, or a due one of `webhooks.retries.*`: read → deliver. */
export async function consumeTask(record: KafkaRecord, ports: ConsumeTaskPorts): Promise<void> {
  if (isFanOut(record)) return ports.publish({ ...boundedCopy(record), topic: TOPICS.fanOuts });
  const parsed = parseDeliveryTask(record.headers, record.value);
  // What a newer version wrote waits for a newer worker.
  if (!parsed.ok) return (parsed.isUnknown ? deferRecord : publishDamaged)(record, parsed.reason, ports);
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

/**
 * Moves a record to the largest tier that is not longer than its remaining wait. Its due time stays, at most `maxWaitMs`
 * from now. A damaged record goes to the dead letters.
 */
export async function moveTask(record: KafkaRecord, { maxWaitMs, ...ports }: MoveTaskPorts): Promise<void> {
  const { headers, value } = record;
  const parsed = parseDeliveryTask(headers, value);
  if (!parsed.ok && !parsed.isUnknown && !isFanOut(record))
    return publishDamaged(record, parsed.reason, ports);
  const dueAt = Math.min(dueAtOf(headers) ?? 0, Date.now() + maxWaitMs);
  return publishUnchanged(record, dueAt, ports.publish);
}
