import { TOPICS, parseDeliveryTask } from '@webhooks/contracts';
import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { boundedCopy } from './bounded-copy.js';
import { originOf } from './consume-event.js';
import type { Settlement } from './decide.js';
import type { PublishSurely } from './publish-surely.js';
import { publishWaiting } from './settle.js';
import type { SettledMemory } from './settled-memory.js';

export interface ConsumeTaskPorts {
  readonly publish: PublishSurely;
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<Settlement['kind']>;
  readonly settled: SettledMemory;
  /** Tells of a record that cannot be read as a task. */
  readonly damaged: (record: KafkaRecord, reason: string) => void;
}

/** A task that cannot be used is kept for operators, with its headers and bytes as far as the topic takes them. */
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

/** One record of `webhooks.deliveries`, or one of `webhooks.retries.*` that is due: read → deliver. */
export async function consumeTask(record: KafkaRecord, ports: ConsumeTaskPorts): Promise<void> {
  const parsed =
    record.undecodable === undefined
      ? parseDeliveryTask(record.headers, record.value)
      : { ok: false as const, reason: 'undecodable' };
  if (!parsed.ok) return publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  return ports.settled.once(task, () => ports.deliver(task, originOf(record)));
}

export interface MoveTaskPorts extends Pick<ConsumeTaskPorts, 'publish' | 'damaged'> {
  /** No task rests longer from now on, in milliseconds: one that is due in a hundred years would go round and round until then. */
  readonly maxRestMs: number;
}

/** A record whose rest is longer than its tier waits on in the largest tier that is not longer than the rest. */
export async function moveTask(
  record: KafkaRecord,
  remainingMs: number,
  { maxRestMs, ...ports }: MoveTaskPorts,
): Promise<void> {
  const parsed = parseDeliveryTask(record.headers, record.value);
  if (!parsed.ok) return publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  if (remainingMs <= maxRestMs) return publishWaiting(ports.publish, task, remainingMs);
  return publishWaiting(ports.publish, { ...task, dueAt: Date.now() + maxRestMs }, maxRestMs);
}
