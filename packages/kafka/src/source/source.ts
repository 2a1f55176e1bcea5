import { remainingMs, until } from '../retry.js';
import { GroupReader, type GroupReaderOptions } from './group-reader.js';
import { InFlight } from './in-flight.js';
import type { BufferLimits } from '../wire/partition-buffer.js';
import type { KafkaRecord } from '../record.js';
import type { DelayedSourceOptions, SourceOptions } from './source-types.js';
import { TurnScheduler, type Schedule } from './turn-scheduler.js';
import { DELAYED, HANDOVER_GRACE_MS, LIVE, MAX_HEAP_WAIT_MS } from '../limits.js';

/** How a source fetches, and when its records are due. */
type ReadPlan = Schedule & BufferLimits & Pick<GroupReaderOptions, 'fetchIntervalMs' | 'fetchWaitMs'>;

/**
 * Opens a source. Resolves when the group is joined. Rejects when that takes longer than `fatalAfterMs`, or the
 * cluster is closed first.
 */
export function openSource(options: SourceOptions) {
  return openScheduled(options, {
    fetchWaitMs: LIVE.fetchWaitMs,
    fetchIntervalMs: options.fetchIntervalMs ?? LIVE.fetchIntervalMs,
    now: Date.now,
    takeAt: () => -Infinity,
    handleAt: () => -Infinity,
  });
}

/**
 * Opens a source of delayed records. Resolves and rejects as `openSource` does.
 *
 * All records of a tier wait equally long, so they become due in the order of append. One paused position for each
 * partition is enough for a million waiting records, and none waits behind one that is due later.
 *
 * The broker's clock sets a record's timestamp and this process's clock reads it. If this clock is ahead, a record
 * would be taken on arrival, moved to its own tier, taken again, and so on for ever. So a record also waits until
 * its delay has passed on this clock since the log was seen to end before it.
 */
export function openDelayedSource(options: DelayedSourceOptions) {
  const { tiers, release, move, now = Date.now, maxHeapWaitMs = MAX_HEAP_WAIT_MS } = options;
  const delays = new Map(tiers.map(({ topic, delayMs }) => [topic, delayMs]));
  const dueAt = (record: KafkaRecord) => options.dueAt(record) ?? -Infinity;
  const handle = (record: KafkaRecord) => {
    const remaining = dueAt(record) - now();
    return remaining > 0 ? move(record, remaining) : release(record);
  };
  return openScheduled(
    { ...options, topics: [...delays.keys()], handle },
    {
      now,
      ...DELAYED,
      maxWaiting: options.maxWaiting,
      takeAt: ({ topic, appendedAfter }, { timestamp }) =>
        Math.max(timestamp, appendedAfter) + (delays.get(topic) ?? 0),
      // A record to be moved is handled at once.
      handleAt: (record) => {
        const due = dueAt(record);
        return due - now() < maxHeapWaitMs ? due : -Infinity;
      },
    },
  );
}

/** Connects the parts of a source and joins the group. */
async function openScheduled(options: SourceOptions, plan: ReadPlan) {
  const forget = options.kafka.onClose(() => stop({ deadlineMs: 0 }));
  const inFlight = new InFlight(options, () => scheduler.plan());
  const reader = new GroupReader({
    ...options,
    ...plan,
    inFlight,
    onFetched: () => scheduler.plan(),
    onReassigned: () => scheduler.reassigned(),
  });
  const { maxSpan } = options.window;
  const scheduler = new TurnScheduler({
    schedule: plan,
    reader,
    inFlight,
    maxSpan,
    onTurn: options.onProgress,
  });
  const stopOnce = async (deadlineMs: number) => {
    const deadlineAt = performance.now() + deadlineMs;
    scheduler.drain();
    await until(() => scheduler.waiting === 0 && inFlight.records === 0, deadlineMs);
    const drained = scheduler.waiting === 0 && inFlight.records === 0;
    scheduler.end();
    inFlight.stop();
    const committed = await reader.close(Math.max(remainingMs(deadlineAt), HANDOVER_GRACE_MS));
    forget();
    return { drained, committed };
  };
  let stopped: ReturnType<typeof stopOnce> | undefined;
  const stop = ({ deadlineMs }: { readonly deadlineMs: number }) => (stopped ??= stopOnce(deadlineMs));
  try {
    await reader.start();
  } catch (error) {
    await stop({ deadlineMs: 0 });
    throw error;
  }
  return {
    /**
     * Returns the state of the source. `waiting`: records of a delayed source that wait in memory until they are
     * due.
     */
    health: () => ({ ...reader.health(), ...inFlight.health(), waiting: scheduler.waiting }),
    /**
     * Pauses, drains, commits, leaves the group and disconnects. Never rejects; resolves within `deadlineMs` + 2 s.
     * `drained`: all records in flight were settled; otherwise the next owner reads the rest again. `committed`: the
     * last positions were acknowledged.
     */
    stop,
    /** Topics that Kafka does not know yet, or shows to others only. They are read later; the rest is read meanwhile. */
    missingTopics: reader.missingTopics,
    /** Resumes a source that the window's `hasCapacity` has paused. */
    resume: () => scheduler.plan(),
    /**
     * Fetches at once what the brokers have at this call, whatever is left of `fetchIntervalMs`. A partition that has just been
     * assigned waits for the current request, 500 ms at most.
     */
    fetchNow: () => reader.fetcher.fetchNow(),
    /** Returns how far each assigned partition is handled, including offsets that are not committed yet. */
    positions: () => reader.positions(),
  };
}

/** A source of records: a membership in a consumer group, with its handlers. */
export type Source = Awaited<ReturnType<typeof openScheduled>>;
/** The state of a source: membership, lag and age of its partitions, records in flight and the latest fault. */
export type SourceHealth = ReturnType<Source['health']>;
