import { setTimeout as sleep } from 'node:timers/promises';
import { parseFanOut } from '@webhooks/contracts';
import type { DeliveryTask, FanOut, RecordOrigin } from '@webhooks/contracts';
import type { Assignment, KafkaRecord } from '@webhooks/kafka';
import { settleAll } from '@webhooks/runtime';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { SOJOURN_MS } from '../admission/queue.js';
import type { ConfigurationCache } from '../configurations/configuration-cache.js';
import { originOf } from './consume-event.js';
import { deferRecord, publishDamaged } from './consume-task.js';
import type { ConsumeTaskPorts } from './consume-task.js';
import { fanOutEntry, makeTasks, publishFanOut, SLICE_TASKS } from './fan-out.js';
import type { AttemptLog } from '../publish/attempt-log.js';

interface ConsumeFanOutPorts extends Pick<ConsumeTaskPorts, 'publish' | 'damaged' | 'maxAgeMs' | 'settled'> {
  readonly cache: ConfigurationCache;
  readonly attemptLog: AttemptLog;
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<unknown>;
  readonly partition: Assignment;
  readonly turns: ReturnType<typeof createSliceTurns>;
}

/**
 * Begins the next slice of an event's webhooks, sorted by `ref`. Resolves when all its deliveries are settled, or after
 * 2 s: then what is not deferred is in flight, and a slow endpoint must not delay the others. `settled`: the deliveries.
 * `lastRef`: the slice's last webhook, if further ones follow.
 */
async function beginSlice(fanOut: FanOut, source: RecordOrigin, ports: ConsumeFanOutPorts) {
  const { tenantId, eventType, afterRef = '' } = fanOut;
  if (!ports.partition.assigned) throw new Error('the partition was lost while the fan-out waited');
  await ports.cache.reader.whenFresh();
  const rest = ports.cache.table.enabledFor(tenantId, eventType).filter(({ ref }) => ref > afterRef);
  const slice = rest.slice(0, SLICE_TASKS);
  const settled = settleAll(makeTasks(fanOut, slice).map((task) => ports.deliver(task, source)));
  await Promise.race([settled, sleep(SOJOURN_MS, undefined, { ref: false })]);
  return { settled, lastRef: rest.length > slice.length ? slice.at(-1)?.ref : undefined };
}

/** Delivers a slice when its tenant's turn comes, and publishes the rest. */
async function deliverSlice(fanOut: FanOut, source: RecordOrigin, ports: ConsumeFanOutPorts): Promise<void> {
  const turn = await ports.turns.take(fanOut.tenantId, () => beginSlice(fanOut, source, ports));
  const { settled, lastRef } = turn;
  if (lastRef !== undefined) await publishFanOut(ports.publish, { ...fanOut, afterRef: lastRef });
  await settled;
  if (lastRef === undefined) await ports.attemptLog.append(fanOutEntry(fanOut, false));
}

/**
 * Handles one record of `webhooks.fan-outs`: read → wait for the tenant's turn → deliver a slice, publish the rest. After
 * a crash or a rebalance a slice is read again, and so is the rest that it had published: of equal slices one is delivered.
 */
export async function consumeFanOut(record: KafkaRecord, ports: ConsumeFanOutPorts): Promise<void> {
  const parsed = parseFanOut(record.headers, record.undecodable === undefined ? record.value : null);
  if (!parsed.ok) return publishDamaged(record, parsed.reason, ports);
  const { task } = parsed;
  if (ports.turns.isOverShare(task.tenantId)) return deferRecord(record, 'expired', ports);
  const { eventId, origin, afterRef = '' } = task;
  const slice = { deliveryId: eventId, cycle: `fan-out/${afterRef}`, attempt: 1, origin, deferralCount: 0 };
  return ports.settled.once(slice, () => deliverSlice(task, originOf(record), ports));
}

/** Concurrent slices of a tenant: 128 deliveries. With 512 deliveries, a burst delayed other tenants twice as long. */
const SLICES_OF_TENANT = 4;
/** Share of all waiting fan-outs that one tenant may have. */
const SHARE = 1 / 8;

/**
 * Runs slices concurrently: at most `maxSlices` in total and `SLICES_OF_TENANT` for each tenant. `maxWaiting`:
 * fan-outs that may wait.
 */
export function createSliceTurns(maxSlices: number, maxWaiting: number) {
  const all = pLimit(Math.max(1, Math.floor(maxSlices)));
  const limits = new LRUCache({ max: maxWaiting, memoMethod: () => pLimit(SLICES_OF_TENANT) });
  return {
    /** Whether the tenant's waiting fan-outs use up its share. */
    isOverShare: (tenantId: string): boolean => limits.memo(tenantId).pendingCount >= SHARE * maxWaiting,
    /** Runs the work when its tenant's turn comes. */
    take: <T>(tenantId: string, work: () => Promise<T>): Promise<T> => limits.memo(tenantId)(() => all(work)),
  };
}
