import TinyQueue from 'tinyqueue';
import type { GroupReader } from './group-reader.js';
import type { InFlight } from './in-flight.js';
import type { PartitionTracker, InFlightRecord } from './partition-tracker.js';
import type { KafkaRecord } from '../record.js';
import { HANDOVER_GRACE_MS, MAX_SPAN, MAX_WAITING, MAX_WAITING_BYTES, TURN_RECORDS } from '../limits.js';

/** When records are taken and handled, in milliseconds of `now`. A past time means now. */
export interface Schedule {
  readonly now: () => number;
  /** Returns when the next record of a partition may be taken. */
  readonly takeAt: (tracker: PartitionTracker, head: KafkaRecord) => number;
  /** Returns when a taken record is due to be handled. Until then it waits in memory. */
  readonly handleAt: (record: KafkaRecord) => number;
  /** Records that may wait in memory; default 50,000. */
  readonly maxWaiting?: number | undefined;
}

export interface TurnSchedulerOptions {
  readonly schedule: Schedule;
  readonly reader: Pick<GroupReader, 'trackers' | 'fetcher'>;
  readonly inFlight: InFlight;
  /** Offsets of a partition between its committable offset and the newest record taken; default 200,000. */
  readonly maxSpan: number | undefined;
  /** Called after each turn: nothing moves a position without one. */
  readonly onTurn: (() => void) | undefined;
}

/**
 * Hands out a few records in each turn of the event loop, so that I/O is served in between. Partitions are served
 * round robin. A live source is a delayed source whose records are due at once.
 */
export class TurnScheduler {
  readonly #options: TurnSchedulerOptions;
  readonly #heap = new TinyQueue<InFlightRecord>([], (a, b) => a.due - b.due);
  #heapBytes = 0;
  /** Index of the partition that is served first. */
  #first = 0;
  /** Records that may still be handed out in this turn. */
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

  /**
   * Schedules a turn. Must be called when records, capacity or partitions changed. Several calls before the turn
   * count as one.
   */
  plan(): void {
    if (this.#ended) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    const { inFlight, reader, onTurn } = this.#options;
    this.#left = TURN_RECORDS;
    this.#handleDue();
    const nextTake = this.#takeFromAll();
    // Otherwise no alarm is needed: the next settled record calls `plan`, and so does the next assignment.
    const isHandingOut = inFlight.hasCapacity && reader.trackers.length > 0;
    const nextDue = isHandingOut ? (this.#heap.peek()?.due ?? Infinity) : Infinity;
    if (this.#left === 0) this.plan();
    else this.#wakeAt(Math.min(nextTake, nextDue));
    reader.fetcher.kick();
    onTurn?.();
  }

  /** Handles what is due; nothing while the group rebalances, because the next owner may handle it. */
  #handleDue(): void {
    const { inFlight, schedule, reader } = this.#options;
    while (this.#left > 0 && inFlight.hasCapacity && reader.trackers.length > 0) {
      const entry = this.#heap.peek();
      if (entry === undefined || entry.due > schedule.now()) return;
      this.#heap.pop();
      this.#heapBytes -= entry.record.size;
      this.#left -= 1;
      inFlight.start(entry);
    }
  }

  /** Takes due records from each partition. Returns when the next record can be taken. */
  #takeFromAll(): number {
    const trackers = this.#draining ? [] : this.#options.reader.trackers;
    const first = this.#first;
    let next = Infinity;
    for (let n = 0; n < trackers.length; n += 1) {
      const tracker = trackers[(first + n) % trackers.length];
      if (tracker === undefined) continue;
      // The next turn begins after the partition where this one ends.
      if (this.#left > 0) this.#first = (first + n + 1) % trackers.length;
      this.#takeFrom(tracker);
      next = Math.min(next, this.#takeAt(tracker));
    }
    return next;
  }

  #takeFrom(tracker: PartitionTracker): void {
    const { inFlight, schedule } = this.#options;
    while (this.#left > 0 && this.#takeAt(tracker) <= schedule.now()) {
      const entry = tracker.begin();
      if (entry === undefined) return;
      this.#left -= 1;
      entry.due = schedule.handleAt(entry.record);
      if (entry.due > schedule.now()) this.#wait(entry);
      else inFlight.start(entry);
    }
  }

  #wait(entry: InFlightRecord): void {
    this.#heapBytes += entry.record.size;
    this.#heap.push(entry);
  }

  /**
   * Returns when the next record of the partition can be taken; Infinity without capacity. A full heap delays only
   * records that would wait in it, so other tiers continue.
   */
  #takeAt(tracker: PartitionTracker): number {
    const { schedule, inFlight, maxSpan = MAX_SPAN } = this.#options;
    const { maxWaiting = MAX_WAITING } = schedule;
    const head = tracker.peek();
    if (head === undefined || !inFlight.hasCapacity || tracker.position - tracker.committable >= maxSpan)
      return Infinity;
    const takeAt = schedule.takeAt(tracker, head);
    const isFull = this.waiting >= maxWaiting || this.#heapBytes >= MAX_WAITING_BYTES;
    return isFull ? Math.max(takeAt, schedule.handleAt(head)) : takeAt;
  }

  /** Schedules a turn at that time, or within a second, so that a changed clock is noticed. */
  #wakeAt(at: number): void {
    clearTimeout(this.#alarm);
    if (at === Infinity) return;
    const sleepMs = Math.min(Math.max(at - this.#options.schedule.now(), 1), HANDOVER_GRACE_MS);
    this.#alarm = setTimeout(() => this.plan(), sleepMs);
  }

  /**
   * Must be called when partitions were assigned or lost. Waiting records of lost partitions are dropped: the next
   * owners handle them.
   */
  reassigned(): void {
    this.#remove(({ tracker }) => !tracker.assigned);
    this.plan();
  }

  #remove(matches: (entry: InFlightRecord) => boolean): InFlightRecord[] {
    const all = this.#heap.data.splice(0);
    this.#heap.length = 0;
    this.#heapBytes = 0;
    for (const entry of all) if (!matches(entry)) this.#wait(entry);
    return all.filter(matches);
  }

  /**
   * Takes no more records. A record that is not due within a second is handled in one of the next turns (while the group
   * rebalances: after that), which moves it back to a tier. So the next owner repeats only those for which there was no time.
   */
  drain(): void {
    this.#draining = true;
    const soon = this.#options.schedule.now() + HANDOVER_GRACE_MS;
    for (const entry of this.#remove(({ due }) => due > soon)) {
      entry.due = -Infinity;
      this.#wait(entry);
    }
    this.plan();
  }

  /** Hands out no more records. The next owner handles the waiting ones. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#alarm);
    clearImmediate(this.#turn);
  }
}
