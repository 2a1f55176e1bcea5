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
  /** Age at which a delivery ends, milliseconds. */
  readonly maxAgeMs: number;
  /** Reports a record that cannot be read as a task. */
  readonly damaged: (record: KafkaRecord, reason: string) => void;
}

/** Keeps a damaged task for operators, with as much of its headers and bytes as the topic takes. */
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

/** First wait of a deferred record; later waits are a quarter of its age, about 35 in 8 days. */
const FIRST_WAIT_MS = 60_000;

/** Writes a record unchanged to a retry tier, with a new due time. */
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

/** Defers a record unchanged. At its greatest age it is kept as damaged, with the reason. */
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

/** Whether a retry tier's record is a fan-out: a task names its delivery. */
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
      ? // A newer version wrote it, and a newer worker can read it.
        deferRecord(record, parsed.reason, ports)
      : publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  return ports.settled.once(task, () => ports.deliver(task, originOf(record)));
}

interface MoveTaskPorts extends Pick<ConsumeTaskPorts, 'publish' | 'damaged'> {
  /**
   * Longest rest of a task from now on, milliseconds. Without it, a task due in a hundred years would circulate until
   * then.
   */
  readonly maxRestMs: number;
}

/** Moves a record whose rest is longer than its tier to the largest tier that is not longer than the rest. */
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
