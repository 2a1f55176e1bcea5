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

interface FanOutPorts extends Pick<ConsumeTaskPorts, 'publish' | 'damaged' | 'maxAgeMs' | 'settled'> {
  readonly cache: ConfigurationCache;
  readonly attemptLog: AttemptLog;
  readonly deliver: (task: DeliveryTask, source: RecordOrigin) => Promise<unknown>;
  readonly partition: Assignment;
  readonly turns: ReturnType<typeof createSliceTurns>;
}

/**
 * Delivers the next slice of an event's webhooks, sorted by `ref`. Publishes the rest after the slice is settled. Calls
 * `begun` when the deliveries begin.
 */
async function deliverSlice(fanOut: FanOut, source: RecordOrigin, ports: FanOutPorts, begun: () => void) {
  const { tenantId, eventType, afterRef = '' } = fanOut;
  if (!ports.partition.assigned) throw new Error('the partition was lost while the fan-out waited');
  await ports.cache.reader.whenFresh();
  begun();
  const rest = ports.cache.table.enabledFor(tenantId, eventType).filter(({ ref }) => ref > afterRef);
  const slice = rest.slice(0, SLICE_TASKS);
  await settleAll(makeTasks(fanOut, slice).map((task) => ports.deliver(task, source)));
  const last = rest.length > slice.length ? slice.at(-1) : undefined;
  if (last) await publishFanOut(ports.publish, { ...fanOut, afterRef: last.ref });
  else await ports.attemptLog.append(fanOutEntry(fanOut, false));
}

/**
 * Handles one record of `webhooks.fan-outs`: read → wait for the tenant's turn → deliver a slice, publish the rest. After
 * a crash or a rebalance a slice is read again, and so is the rest that it had published. Without the memory each copy would
 * publish a rest of its own.
 */
export async function consumeFanOut(record: KafkaRecord, ports: FanOutPorts): Promise<void> {
  const parsed = parseFanOut(record.headers, record.value);
  // What a newer version wrote waits for a newer worker.
  if (!parsed.ok) return (parsed.isUnknown ? deferRecord : publishDamaged)(record, parsed.reason, ports);
  const { task } = parsed;
  if (ports.turns.isOverShare(task.tenantId)) return deferRecord(record, 'expired', ports);
  const { eventId, origin, afterRef = '' } = task;
  const slice = { deliveryId: eventId, cycle: `fan-out/${afterRef}`, attempt: 1, origin, deferralCount: 0 };
  const work = (begun: () => void) => deliverSlice(task, originOf(record), ports, begun);
  return ports.settled.once(slice, () => ports.turns.take(task.tenantId, work));
}

/**
 * Slices of a tenant that have a turn: 128 deliveries begin at once. With 512, a burst delayed other tenants twice as long.
 * Those that are in flight after their turn are bounded by admission.
 */
const SLICES_OF_TENANT = 4;
/** Share of all waiting fan-outs that one tenant may have. */
const SHARE = 1 / 8;

/**
 * Runs slices when their tenant's turn comes. At most `maxSlices` have a turn, and `SLICES_OF_TENANT` of each tenant. A
 * turn ends with its slice, or 2 s after the slice has begun: what is not deferred by then is in flight, and a slow endpoint
 * must not stop the other webhooks of its tenant. `maxWaiting`: fan-outs that may wait, and deliveries of slices that are
 * not settled. While there are so many, no slice begins, and no turn ends.
 */
export function createSliceTurns(maxSlices: number, maxWaiting: number) {
  const all = pLimit(Math.max(1, Math.floor(maxSlices)));
  const unsettled = pLimit(Math.ceil(maxWaiting / SLICE_TASKS));
  const limits = new LRUCache({ max: maxWaiting, memoMethod: () => pLimit(SLICES_OF_TENANT) });
  return {
    /** Whether the tenant's waiting fan-outs use up its share. */
    isOverShare: (tenantId: string): boolean => limits.memo(tenantId).pendingCount >= SHARE * maxWaiting,
    /** Runs the work when its tenant's turn comes, and resolves with it. */
    take: async (tenantId: string, work: (begun: () => void) => Promise<void>): Promise<void> => {
      let settled: Promise<void> | undefined;
      const turn = (): Promise<void> => {
        const over = Promise.withResolvers<undefined>();
        settled = unsettled(() => work(() => over.resolve(sleep(SOJOURN_MS, undefined, { ref: false }))));
        return Promise.race([settled, over.promise]);
      };
      await limits.memo(tenantId)(() => all(turn));
      await settled;
    },
  };
}
