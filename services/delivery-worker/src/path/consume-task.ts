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
  /** Age at which a delivery ends, in milliseconds. */
  readonly maxAgeMs: number;
  /** Reports a record that cannot be read as a task. */
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

/** First wait of a record that is put off; then a quarter of its age, some 35 waits in 8 days. */
const FIRST_WAIT_MS = 60_000;

/** Writes a record to a retry tier as it is, due then. */
async function publishUnread(
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

/** Puts off a record as it is, until its greatest age: then it is kept with the reason. */
export async function deferRecord(
  record: KafkaRecord,
  reason: string,
  ports: Pick<ConsumeTaskPorts, 'publish' | 'damaged' | 'maxAgeMs'>,
): Promise<void> {
  const now = Date.now();
  const limit = (headerNumber(record.headers, 'first-due-at') ?? 0) + ports.maxAgeMs;
  if (now >= limit) return publishDamaged(record, reason, ports);
  const waitMs = Math.max(FIRST_WAIT_MS, (now - (limit - ports.maxAgeMs)) / 4);
  return publishUnread(record, { dueAt: Math.ceil(Math.min(now + waitMs, limit)), waitMs }, ports.publish);
}

/** Whether it is a fan-out that was put off: a task names its delivery. */
const isFanOut = ({ headers }: KafkaRecord): boolean =>
  headers['delivery-id'] === undefined && headers['event-id'] !== undefined;

/** One record of `webhooks.deliveries`, or one of `webhooks.retries.*` that is due: read → deliver. */
export async function consumeTask(record: KafkaRecord, ports: ConsumeTaskPorts): Promise<void> {
  if (isFanOut(record)) return ports.publish({ ...boundedCopy(record), topic: TOPICS.fanOuts });
  const parsed =
    record.undecodable === undefined
      ? parseDeliveryTask(record.headers, record.value)
      : { ok: false as const, reason: 'undecodable', isUnknown: false };
  if (!parsed.ok)
    return parsed.isUnknown
      ? // A newer version wrote it: it waits for a worker that knows it.
        deferRecord(record, parsed.reason, ports)
      : publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  return ports.settled.once(task, () => ports.deliver(task, originOf(record)));
}

interface MoveTaskPorts extends Pick<ConsumeTaskPorts, 'publish' | 'damaged'> {
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
  if (!parsed.ok && (parsed.isUnknown || isFanOut(record))) {
    const waitMs = Math.min(remainingMs, maxRestMs);
    return publishUnread(record, { dueAt: Date.now() + waitMs, waitMs }, ports.publish);
  }
  if (!parsed.ok) return publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  if (remainingMs <= maxRestMs) return publishWaiting(ports.publish, task, remainingMs);
  return publishWaiting(ports.publish, { ...task, dueAt: Date.now() + maxRestMs }, maxRestMs);
}
