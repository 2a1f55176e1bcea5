import { headerText, isTraceparent, readEvent, renderNotification } from '@webhooks/contracts';
import type { DeliveryTask, FanOut, RecordOrigin, Violation } from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import type { ConfigurationCache } from '../configurations/configuration-cache.js';
import { fanOutEntry, makeTasks, publishFanOut, settleAll } from './fan-out.js';
import type { AttemptLog } from '../publish/attempt-log.js';
import type { PublishWithRetry } from '../publish/publisher.js';

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
  readonly attemptLog: AttemptLog;
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<unknown>;
  readonly reject: (
    record: KafkaRecord,
    why: { reason: string; violations: readonly Violation[] },
  ) => Promise<void>;
  /** Counts and logs it. Must not throw. */
  readonly observe: (result: EventResult) => void;
}

/**
 * An event for more webhooks goes through `webhooks.fan-outs`, where tenants take turns: here it would hold up the events behind it.
 * That costs a third of a delivery (37 of 120 µs, measured): 2 % of such an event, and 31 % of one for a single webhook.
 */
const MAX_DIRECT_TASKS = 16;

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
  const traceparent = headerText(record.headers, 'traceparent');
  const now = Date.now();
  const { id, eventType, tenantId } = read.event;
  return {
    fanOut: {
      eventId: id,
      eventType,
      tenantId,
      body: renderNotification(read.event),
      origin: originOf(record),
      // The greatest age counts from here, so that no outage of ours takes attempts away.
      firstDueAt: now,
      // Clocks differ, and a topic made by others may keep its producers' times.
      dueAt: record.timestamp > 0 ? Math.min(record.timestamp, now) : now,
      traceparent: isTraceparent(traceparent) ? traceparent : undefined,
    },
  };
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

/** Before it is handled here it is told that its deliveries are made elsewhere: until then it is not known what a webhook missed. */
const leave = (fanOut: FanOut, { publish, attemptLog }: ConsumeEventPorts): Promise<unknown> =>
  Promise.all([publishFanOut(publish, fanOut), attemptLog.append(fanOutEntry(fanOut, true))]);

function dispatch(fanOut: FanOut, ports: ConsumeEventPorts): Promise<unknown> {
  const { cache, deliver, observe } = ports;
  const { tenantId, eventType, origin } = fanOut;
  const configurations = cache.table.enabledFor(tenantId, eventType);
  const isConfigured = configurations.length > 0 || cache.table.hasTenant(tenantId);
  observe(isConfigured ? { deliveries: configurations.length } : { unconfiguredTenantId: tenantId });
  if (configurations.length > MAX_DIRECT_TASKS) return leave(fanOut, ports);
  const work = makeTasks(fanOut, configurations).map((task) => deliver(task, origin));
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
  if (ports.cache.reader.isFresh()) return dispatch(read.fanOut, ports);
  return ports.cache.reader.whenFresh().then(() => dispatch(read.fanOut, ports));
}
