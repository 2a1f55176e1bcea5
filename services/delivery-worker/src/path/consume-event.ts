import type { LimitFunction } from 'p-limit';
import {
  TOPICS,
  headerText,
  isTraceparent,
  readEvent,
  renderNotification,
  taskHeaders,
} from '@webhooks/contracts';
import type { DeliveryTask, RecordOrigin, Violation } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { fanOut } from './fan-out.js';
import type { FanOutSource } from './fan-out.js';
import type { ConfigurationCache } from '../configurations/open-configuration-cache.js';
import type { Configuration } from '../configurations/configuration.js';
import type { PublishWithRetry } from '../publish/publish-with-retry.js';

/** What becomes of a record, told each time it is read: how many deliveries it makes, or why and where it was rejected (never its content). */
export type EventResult =
  | { readonly deliveries: number }
  /** The tenant has no configuration at all, enabled or not. */
  | { readonly unconfiguredTenantId: string }
  | {
      readonly rejected: RecordOriginNumbers & {
        readonly reason: string;
        readonly property?: string;
        readonly detail?: string;
      };
    };

type RecordOriginNumbers = Pick<KafkaRecord, 'topic' | 'partition' | 'offset'>;

export interface ConsumeEventPorts {
  readonly cache: ConfigurationCache;
  readonly publish: PublishWithRetry;
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<unknown>;
  readonly reject: (
    record: KafkaRecord,
    why: { reason: string; violations: readonly Violation[] },
  ) => Promise<void>;
  /** How many large fan-outs are written at once. */
  readonly largeFanOuts: LimitFunction;
  /** Counts and logs it. Must not throw. */
  readonly observe: (result: EventResult) => void;
}

/** Above this many configurations for one event its tasks travel through `webhooks.deliveries`. */
const MAX_DIRECT_TASKS = 32;
/** What one large fan-out gives to Kafka at once. */
const MAX_SHARE_TASKS = 500;
const MAX_SHARE_BYTES = 4 * 1_048_576;

export const originOf = ({ topic, partition, offset }: KafkaRecord): RecordOrigin => ({
  topic,
  partition,
  offset: String(offset),
});

function readRecord(
  record: KafkaRecord,
): { source: FanOutSource } | { reason: string; violations: readonly Violation[] } {
  if (record.undecodable !== undefined)
    return { reason: 'undecodable', violations: [{ property: '', reason: record.undecodable }] };
  const read = readEvent(record.value);
  if (!read.ok) return read;
  const traceparent = headerText(record.headers, 'traceparent');
  const now = Date.now();
  return {
    source: {
      event: read.event,
      body: renderNotification(read.event),
      origin: originOf(record),
      now,
      // Clocks differ, and a topic made by others may keep its producers' times.
      appendedAt: record.timestamp > 0 ? Math.min(record.timestamp, now) : now,
      ...(isTraceparent(traceparent) ? { traceparent } : {}),
    },
  };
}

const publishTask = (publish: PublishWithRetry, task: DeliveryTask): Promise<void> =>
  publish({ topic: TOPICS.deliveries, key: task.deliveryId, value: task.body, headers: taskHeaders(task) });

/** Tasks of a large fan-out, a share at a time, so that neither the tasks nor their bytes pile up in memory. */
async function publishTasks(
  source: FanOutSource,
  configurations: readonly Configuration[],
  ports: ConsumeEventPorts,
): Promise<void> {
  const share = Math.max(1, Math.min(MAX_SHARE_TASKS, Math.floor(MAX_SHARE_BYTES / source.body.byteLength)));
  await ports.largeFanOuts(async () => {
    for (let from = 0; from < configurations.length; from += share) {
      const tasks = fanOut(source, configurations.slice(from, from + share));
      await settleAll(tasks.map((task) => publishTask(ports.publish, task)));
    }
  });
}

/** Rejects a record, and tells of it. */
export async function refuseEvent(
  record: KafkaRecord,
  why: { readonly reason: string; readonly violations: readonly Violation[] },
  ports: Pick<ConsumeEventPorts, 'reject' | 'observe'>,
): Promise<void> {
  await ports.reject(record, why);
  const { topic, partition, offset } = record;
  const [first] = why.violations;
  ports.observe({
    rejected: {
      reason: why.reason,
      topic,
      partition,
      offset,
      ...(first ? { property: first.property, detail: first.reason } : {}),
    },
  });
}

function dispatch(source: FanOutSource, ports: ConsumeEventPorts): Promise<unknown> {
  const { event, origin } = source;
  const configurations = ports.cache.table.enabledFor(event.tenantId, event.eventType);
  const isConfigured = configurations.length > 0 || ports.cache.table.hasTenant(event.tenantId);
  ports.observe(
    isConfigured ? { deliveries: configurations.length } : { unconfiguredTenantId: event.tenantId },
  );
  if (configurations.length > MAX_DIRECT_TASKS) return publishTasks(source, configurations, ports);
  const work = fanOut(source, configurations).map((task) => ports.deliver(task, origin));
  const [first] = work;
  return first && work.length === 1 ? first : settleAll(work);
}

/**
 * One record of `payments.events`: read → fan out → deliver, or reject. Resolves when it is handled. An event
 * with one delivery, as most are, has the promise of that delivery and none of its own.
 */
export function consumeEvent(record: KafkaRecord, ports: ConsumeEventPorts): Promise<unknown> {
  const read = readRecord(record);
  if ('reason' in read) return refuseEvent(record, read, ports);
  if (ports.cache.reader.isFresh()) return dispatch(read.source, ports);
  return ports.cache.reader.whenFresh().then(() => dispatch(read.source, ports));
}

/** Waits for all, then throws the first fault: a record must not be called handled again while a part of it still runs. */
async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
