import { eventSpan, headerText, readEvent, readTraceparent, renderNotification } from '@webhooks/contracts';
import type { DeliveryTask, FanOut, RecordOrigin, Violation } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { endAfter, settleAll, type Tracing } from '@webhooks/runtime';
import type { ConfigurationCache } from '../configurations/configuration-cache.js';
import { fanOutEntry, makeTasks, publishFanOut } from './fan-out.js';
import type { AttemptLog } from '../publish/attempt-log.js';
import type { PublishWithRetry } from '../publish/publisher.js';
import { rejectRecord } from '../publish/quarantine.js';

/**
 * The result for a record: how many deliveries it starts, or why it was rejected. Reported each time the record is
 * read, never with its content.
 */
export type EventResult =
  | { readonly deliveries: number }
  /** The tenant has no configuration, enabled or not. */
  | { readonly unconfiguredTenantId: string }
  | { readonly rejected: Rejection };

interface Rejection extends Pick<KafkaRecord, 'topic' | 'partition' | 'offset'> {
  readonly reason: string;
  /** The first violation. */
  readonly property?: string | undefined;
  readonly detail?: string | undefined;
}

export interface ConsumeEventPorts {
  readonly cache: ConfigurationCache;
  readonly publish: PublishWithRetry;
  readonly attemptLog: AttemptLog;
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<unknown>;
  /** Counts and logs the result. Must not throw. */
  readonly observe: (result: EventResult) => void;
  readonly arrive: Tracing['arrive'];
}

/**
 * An event for more webhooks goes through `webhooks.fan-outs`, which serves tenants round robin. Here it would delay
 * the events behind it. The detour costs 37 µs: 2 % of the work for an event with 17 webhooks, 31 % for one with a
 * single webhook.
 */
const MAX_DIRECT_TASKS = 16;

/** The place of a record in Kafka, as logs and tasks store it. */
export const originOf = ({ topic, partition, offset }: KafkaRecord): RecordOrigin => ({
  topic,
  partition,
  offset: String(offset),
});

function readRecord(
  record: KafkaRecord,
): { fanOut: FanOut } | { reason: string; violations: readonly Violation[] } {
  if (record.undecodable !== undefined)
    return { reason: 'undecodable', violations: [{ property: '', reason: record.undecodable }] };
  const read = readEvent(record.value);
  if (!read.ok) return read;
  const now = Date.now();
  // At most now: clocks differ, and with `CreateTime` the producer sets the timestamp.
  const acceptedAt = record.timestamp > 0 ? Math.min(record.timestamp, now) : now;
  const { id, eventType, tenantId } = read.event;
  return {
    fanOut: {
      eventId: id,
      eventType,
      tenantId,
      body: renderNotification(read.event),
      origin: originOf(record),
      // The maximum age of a delivery counts from now, so an outage of this system does not shorten its retries.
      firstDueAt: now,
      dueAt: acceptedAt,
      acceptedAt,
      traceparent: readTraceparent(headerText(record.headers, 'traceparent')),
    },
  };
}

/** Rejects a record and reports it. */
export async function rejectEvent(
  record: KafkaRecord,
  why: { readonly reason: string; readonly violations: readonly Violation[] },
  ports: Pick<ConsumeEventPorts, 'publish' | 'observe'>,
): Promise<void> {
  await rejectRecord(record, why, ports.publish);
  const { topic, partition, offset } = record;
  const [{ property, reason: detail } = {}] = why.violations;
  ports.observe({ rejected: { reason: why.reason, topic, partition, offset, property, detail } });
}

/**
 * Publishes a fan-out and logs it as open. Without that entry, query-api would count its pending deliveries as
 * missed.
 */
const publishAndLogFanOut = (fanOut: FanOut, { publish, attemptLog }: ConsumeEventPorts): Promise<unknown> =>
  Promise.all([publishFanOut(publish, fanOut), attemptLog.append(fanOutEntry(fanOut, true))]);

function fanOutNow(fanOut: FanOut, ports: ConsumeEventPorts): Promise<unknown> {
  const { cache, deliver, observe } = ports;
  const { tenantId, eventType, origin } = fanOut;
  const configurations = cache.table.enabledFor(tenantId, eventType);
  const isConfigured = configurations.length > 0 || cache.table.hasTenant(tenantId);
  observe(isConfigured ? { deliveries: configurations.length } : { unconfiguredTenantId: tenantId });
  if (configurations.length > MAX_DIRECT_TASKS) return publishAndLogFanOut(fanOut, ports);
  const work = makeTasks(fanOut, configurations).map((task) => deliver(task, origin));
  const [first] = work;
  return first && work.length === 1 ? first : settleAll(work);
}

function dispatch(read: FanOut, ports: ConsumeEventPorts): Promise<unknown> {
  const { traceparent, end } = ports.arrive(read.traceparent, () => eventSpan(read));
  const work = fanOutNow(traceparent === read.traceparent ? read : { ...read, traceparent }, ports);
  return end ? endAfter(end, work) : work;
}

/**
 * Handles one record of `payments.events`: read → fan out → deliver, or reject. Resolves when the record is handled.
 * For an event with one delivery, the returned promise is that delivery's.
 */
export function consumeEvent(record: KafkaRecord, ports: ConsumeEventPorts): Promise<unknown> {
  const read = readRecord(record);
  if ('reason' in read) return rejectEvent(record, read, ports);
  if (ports.cache.reader.isFresh()) return dispatch(read.fanOut, ports);
  return ports.cache.reader.whenFresh().then(() => dispatch(read.fanOut, ports));
}
