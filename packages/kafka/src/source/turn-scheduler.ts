import TinyQueue from 'tinyqueue';
import type { GroupReader } from './group-reader.js';
import type { InFlight } from './in-flight.js';
import type { PartitionTracker, Task } from './partition-tracker.js';
import type { KafkaRecord } from '../record.js';
import { HANDOVER_GRACE_MS, MAX_SPAN, MAX_WAITING, MAX_WAITING_BYTES, TURN_RECORDS } from '../limits.js';

/** When records are due, in milliseconds of `now`. A time in the past means at once. */
export interface Schedule {
  readonly now: () => number;
  /** When the next record of a partition is taken. */
  readonly takeAt: (tracker: PartitionTracker, head: KafkaRecord) => number;
  /** When a taken record is handled. Until then it waits in memory. */
  readonly handleAt: (record: KafkaRecord) => number;
  /** Records that may wait in memory; default 50,000. */
  readonly maxWaiting?: number | undefined;
}

export interface TurnSchedulerOptions {
  readonly schedule: Schedule;
  readonly reader: Pick<GroupReader, 'trackers' | 'kick'>;
  readonly inFlight: InFlight;
  /** Offsets of a partition between its watermark and the newest record taken; default 200,000. */
  readonly maxSpan: number | undefined;
}

/**
 * Hands out a few records in each turn of the event loop, so that I/O is served in between. Partitions take turns (round robin). A
 * live source is a delayed one whose records are due at once.
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

  /** Records that wait in memory until they are due. */
  get waiting(): number {
    return this.#heap.length;
  }

  /** Call it when something changed. Calls within one turn of the event loop are one. */
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
    // Without capacity no alarm is needed: the next settled record plans.
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

  /** Takes what is due from each partition. Returns when the next record can be taken. */
  #takeFromAll(): number {
    const trackers = this.#draining ? [] : this.#options.reader.trackers;
    const first = this.#first;
    let next = Infinity;
    for (let n = 0; n < trackers.length; n += 1) {
      const tracker = trackers[(first + n) % trackers.length];
      if (tracker === undefined) continue;
      // The next turn begins behind the partition where this one ends.
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
   * When the next record of the partition can be taken; Infinity without capacity. A full heap delays only records that would wait in
   * it, so that it holds up no other tier.
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

  /** Plans at that time, or within a second, so that a changed clock is noticed. */
  #wakeAt(at: number): void {
    clearTimeout(this.#alarm);
    if (at === Infinity) return;
    const sleepMs = Math.min(Math.max(at - this.#options.schedule.now(), 1), HANDOVER_GRACE_MS);
    this.#alarm = setTimeout(() => this.plan(), sleepMs);
  }

  /** Partitions came or went. Waiting records of lost partitions are dropped: the next owners handle them. */
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
   * Takes no more records. What is not due within a second is handled at once, which moves it back to a tier, so that the next owner
   * repeats nothing.
   */
  drain(): void {
    this.#draining = true;
    const soon = this.#options.schedule.now() + HANDOVER_GRACE_MS;
    for (const task of this.#remove(({ due }) => due > soon)) this.#options.inFlight.start(task);
    this.plan();
  }

  /** Hands out nothing any more. The next owner handles what still waits. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#alarm);
    clearImmediate(this.#turn);
  }
}
