import { performance } from 'node:perf_hooks';
import { remainingMs, until } from '../retry.js';
import { GroupReader } from './group-reader.js';
import { InFlight } from './in-flight.js';
import { endWith } from '../kafkajs/create-kafka.js';
import { HANDOVER_GRACE_MS } from '../kafkajs/membership.js';
import type { BufferLimits } from '../wire/partition-buffer.js';
import type { KafkaRecord } from '../record.js';
import type { DelayedSourceOptions, Source, SourceOptions } from './source-types.js';
import { TurnScheduler, type Schedule } from './turn-scheduler.js';

/** Under a steady stream: at 2,200 events a second half of them came 8 ms earlier, because both sides had time left. */
const FETCH_INTERVAL_MS = 2;

/** What rests shorter waits in memory: a move is a write, and its record may be late by a few fetches. */
const MAX_HEAP_WAIT_MS = 5_000;
/** There are many partitions (tiers × partitions) and most of them wait: each holds one small block. */
const FETCH_BYTES = 64 * 1024;
/** No wait is that short. A fetch names all partitions, and each record that waits would get one as response. */
const DELAYED_FETCH_INTERVAL_MS = 50;

/** How a source reads, and when its records are due. */
interface ReadPlan extends Schedule, BufferLimits {
  readonly fetchIntervalMs: number;
}

/** Resolves when the group is joined; rejects when that has not happened in `fatalAfterMs`, or the cluster is closed before. */
export function openSource(options: SourceOptions): Promise<Source> {
  return openScheduled(options, {
    fetchIntervalMs: FETCH_INTERVAL_MS,
    now: Date.now,
    takeAt: () => -Infinity,
    handleAt: () => -Infinity,
  });
}

/**
 * Resolves when the group is joined; rejects when that has not happened in `fatalAfterMs`, or the cluster is closed before.
 *
 * Within a tier the order of append is the order of looking: so one paused position for each partition is all that a
 * million waiting records need, and no record waits behind one that is due later.
 *
 * The broker dates a record, this process's clock looks. Where that is ahead, a record would be looked at as it arrives, moved to
 * the tier it lies in, and so on, several times a second. So it is not looked at before its delay has passed on our own clock since
 * the log was seen to end before it.
 */
export function openDelayedSource(options: DelayedSourceOptions): Promise<Source> {
  const { tiers, release, move, now = Date.now, maxHeapWaitMs = MAX_HEAP_WAIT_MS } = options;
  const delays = new Map(tiers.map(({ topic, delayMs }) => [topic, delayMs]));
  const dueAt = (record: KafkaRecord) => options.dueAt(record) ?? -Infinity;
  const handle = (record: KafkaRecord) => {
    const restMs = dueAt(record) - now();
    return restMs > 0 ? move(record, restMs) : release(record);
  };
  return openScheduled(
    { ...options, topics: [...delays.keys()], handle },
    {
      now,
      fetchIntervalMs: DELAYED_FETCH_INTERVAL_MS,
      fetchBytes: FETCH_BYTES,
      readAhead: 0,
      maxWaiting: options.maxWaiting,
      takeAt: ({ topic, appendedAfter }, { timestamp }) =>
        Math.max(timestamp, appendedAfter) + (delays.get(topic) ?? 0),
      // What is to be moved is handled at once.
      handleAt: (record) => {
        const due = dueAt(record);
        return due - now() < maxHeapWaitMs ? due : -Infinity;
      },
    },
  );
}

/** Puts the parts of a source together, and joins. */
async function openScheduled(options: SourceOptions, plan: ReadPlan): Promise<Source> {
  const forget = endWith(options.kafka, () => stop({ deadlineMs: 0 }));
  const inFlight = new InFlight(options, () => scheduler.plan());
  const reader = new GroupReader({
    ...options,
    ...plan,
    inFlight,
    onFetched: () => scheduler.plan(),
    onReassigned: () => scheduler.reassigned(),
  });
  const scheduler = new TurnScheduler({ schedule: plan, reader, inFlight, maxSpan: options.window.maxSpan });
  const stopOnce = async (deadlineMs: number) => {
    const deadlineAt = performance.now() + deadlineMs;
    scheduler.drain();
    await until(() => scheduler.waiting === 0 && inFlight.records === 0, deadlineMs);
    scheduler.end();
    inFlight.stop();
    const committed = await reader.close(Math.max(remainingMs(deadlineAt), HANDOVER_GRACE_MS));
    forget();
    return { drained: inFlight.records + scheduler.waiting === 0, committed };
  };
  let stopped: ReturnType<Source['stop']> | undefined;
  const stop: Source['stop'] = ({ deadlineMs }) => (stopped ??= stopOnce(deadlineMs));
  try {
    await reader.start();
  } catch (error) {
    await stop({ deadlineMs: 0 });
    throw error;
  }
  const health = () => ({ ...reader.health(), ...inFlight.health(), waiting: scheduler.waiting });
  const { missingTopics } = reader;
  return { health, stop, missingTopics, resume: () => scheduler.plan(), positions: () => reader.positions() };
}
