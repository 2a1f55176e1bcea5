import TinyQueue from 'tinyqueue';
import type { GroupReader } from './group-reader.js';
import type { InFlight } from './in-flight.js';
import { HANDOVER_GRACE_MS } from '../kafkajs/membership.js';
import type { PartitionTracker, Task } from './partition-tracker.js';
import type { KafkaRecord } from '../record.js';

/** When records are due, in milliseconds of `now`. What lies in the past is due at once. */
export interface Schedule {
  readonly now: () => number;
  /** When the next record of a partition is to be taken. */
  readonly takeAt: (tracker: PartitionTracker, head: KafkaRecord) => number;
  /** When a record that was taken is to be handled: until then it waits in memory. */
  readonly handleAt: (record: KafkaRecord) => number;
  /** Records that wait in memory (default 50,000). */
  readonly maxWaiting?: number | undefined;
}

export interface TurnSchedulerOptions {
  readonly schedule: Schedule;
  readonly reader: Pick<GroupReader, 'trackers' | 'kick'>;
  readonly inFlight: InFlight;
  /** Offsets of a partition between its watermark and the newest record taken (default 200,000). */
  readonly maxSpan: number | undefined;
}

/** Records of one turn of the event loop: a thousand that are due at once would keep everybody else waiting for 150 ms. */
const TURN_RECORDS = 32;
/** Offsets a partition may be ahead of its watermark: 32 s (an attempt of 30 s that hangs) of 6,000 records a second. */
const MAX_SPAN = 200_000;
/** Of small records, with what belongs to them about as much memory as the bytes below. */
const MAX_WAITING = 50_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * Hands out records, a few in each turn of the event loop: what they begin is written, and what came meanwhile is read, before the
 * next ones. Partitions take turns (round robin). A live source is a delayed one whose records are due at once.
 */
export class TurnScheduler {
  readonly #options: TurnSchedulerOptions;
  readonly #heap = new TinyQueue<Task>([], (a, b) => a.due - b.due);
  #heapBytes = 0;
  /** The partition whose turn it is. */
  #first = 0;
  #left = 0;
  #turn: NodeJS.Immediate | undefined;
  #alarm: NodeJS.Timeout | undefined;
  #draining = false;
  #ended = false;

  constructor(options: TurnSchedulerOptions) {
    this.#options = options;
  }

  /** Records that wait in memory for their moment. */
  get waiting(): number {
    return this.#heap.length;
  }

  /** Something changed. What happens in one turn of the event loop is looked at once. */
  plan(): void {
    if (this.#ended) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    const { inFlight, reader } = this.#options;
    this.#left = TURN_RECORDS;
    this.#handleDue();
    const nextTake = this.#takeFromAll();
    // Without capacity no alarm: the next record that is settled makes some, and plans.
    const nextDue = inFlight.hasCapacity ? (this.#heap.peek()?.due ?? Infinity) : Infinity;
    if (this.#left === 0) this.plan();
    else this.#wakeAt(Math.min(nextTake, nextDue));
    reader.kick();
  }

  #handleDue(): void {
    const { inFlight, schedule } = this.#options;
    while (this.#left > 0 && inFlight.hasCapacity) {
      const task = this.#heap.peek();
      if (task === undefined || task.due > schedule.now()) return;
      this.#heap.pop();
      this.#heapBytes -= task.record.size;
      this.#left -= 1;
      inFlight.start(task);
    }
  }

  /** Takes from each partition what its moment has come for. Returns when the next one will have. */
  #takeFromAll(): number {
    const trackers = this.#draining ? [] : this.#options.reader.trackers;
    const first = this.#first;
    let next = Infinity;
    for (let n = 0; n < trackers.length; n += 1) {
      const tracker = trackers[(first + n) % trackers.length];
      if (tracker === undefined) continue;
      // Behind the one where this turn ends, the next turn begins.
      if (this.#left > 0) this.#first = (first + n + 1) % trackers.length;
      this.#takeFrom(tracker);
      next = Math.min(next, this.#takeAt(tracker));
    }
    return next;
  }

  #takeFrom(tracker: PartitionTracker): void {
    const { inFlight, schedule } = this.#options;
    while (this.#left > 0 && this.#takeAt(tracker) <= schedule.now()) {
      const task = tracker.begin();
      if (task === undefined) return;
      this.#left -= 1;
      task.due = schedule.handleAt(task.record);
      if (task.due > schedule.now()) this.#wait(task);
      else inFlight.start(task);
    }
  }

  #wait(task: Task): void {
    this.#heapBytes += task.record.size;
    this.#heap.push(task);
  }

  /**
   * When the next record of the partition can be taken; never while there is no capacity. What is handled at once needs none
   * in the heap: a full one must not hold up other tiers.
   */
  #takeAt(tracker: PartitionTracker): number {
    const { schedule, inFlight, maxSpan = MAX_SPAN } = this.#options;
    const { maxWaiting = MAX_WAITING } = schedule;
    const head = tracker.peek();
    if (head === undefined || !inFlight.hasCapacity || tracker.span >= maxSpan) return Infinity;
    const takeAt = schedule.takeAt(tracker, head);
    const isFull = this.waiting >= maxWaiting || this.#heapBytes >= MAX_WAITING_BYTES;
    return isFull ? Math.max(takeAt, schedule.handleAt(head)) : takeAt;
  }

  /** Within a second, so that a changed clock is noticed. */
  #wakeAt(at: number): void {
    clearTimeout(this.#alarm);
    if (at === Infinity) return;
    const sleepMs = Math.min(Math.max(at - this.#options.schedule.now(), 1), HANDOVER_GRACE_MS);
    this.#alarm = setTimeout(() => this.plan(), sleepMs);
  }

  /** Partitions came or went: what waits in memory of those that were lost is handled by their next owners. */
  reassigned(): void {
    this.#remove(({ tracker }) => !tracker.assigned);
    this.plan();
  }

  #remove(matches: (task: Task) => boolean): Task[] {
    const all = this.#heap.data.splice(0);
    this.#heap.length = 0;
    this.#heapBytes = 0;
    for (const task of all) if (!matches(task)) this.#wait(task);
    return all.filter(matches);
  }

  /**
   * Takes nothing any more. What is not due within a second is handled at once, which gives it back to its tiers: then the next
   * owner has nothing to repeat.
   */
  drain(): void {
    this.#draining = true;
    const soon = this.#options.schedule.now() + HANDOVER_GRACE_MS;
    for (const task of this.#remove(({ due }) => due > soon)) this.#options.inFlight.start(task);
    this.plan();
  }

  /** Hands out nothing any more: what still waits is handled by the next owner. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#alarm);
    clearImmediate(this.#turn);
  }
}
