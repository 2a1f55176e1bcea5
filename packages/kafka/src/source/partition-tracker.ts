import { Node, Yallist } from 'yallist';
import type { Feed } from './fetcher.js';
import type { GroupPosition } from '../kafkajs/membership.js';
import type { FetchedPartition } from '../wire/protocol.js';
import { PartitionBuffer, type BufferLimits } from '../wire/partition-buffer.js';
import type { KafkaRecord } from '../record.js';

export interface TrackerOptions extends BufferLimits {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onFetched: () => void;
}

/** A record in flight, in the list of those of its partition. One is made for each record: it has no closures. */
export class Task extends Node<KafkaRecord> {
  readonly tracker: PartitionTracker;
  /** When it is to be handled, in milliseconds since 1970. */
  due = -Infinity;

  constructor(record: KafkaRecord, tracker: PartitionTracker) {
    super(record);
    this.tracker = tracker;
  }

  get record(): KafkaRecord {
    return this.value;
  }

  /** It is handled. It is in no list any more when the partition has passed over it. */
  finish(): void {
    this.list?.removeNode(this);
  }
}

/**
 * One partition while it is ours: what is fetched, what is in flight, what may be committed.
 *
 * Everything below the position is either in flight or finished, so the records in flight (few: the window bounds them) are
 * all that has to be remembered, however many offsets are finished behind a slow one.
 */
export class PartitionTracker extends PartitionBuffer implements Feed {
  readonly #options: TrackerOptions;
  /** Ascending. A list and no Set, whose first member is found behind all that were taken out: it is read with each record. */
  #inFlight = new Yallist<KafkaRecord>();
  assigned = true;
  /** Of the last record taken, or of what was committed before. */
  #takenTime: number | undefined;
  /** The log's end at the last response that was passed, and when that came. */
  #end = { offset: -1, seenAt: -Infinity };
  /** What is buffered was appended after that moment of our own clock, which the broker's may not agree with. */
  appendedAfter = -Infinity;
  /** What the group has committed; -1 for nothing. */
  committed: number;
  /** No fetch brought anything, and be it the end, since the owner set it. */
  isUnfetched = false;
  /** Since when the end is ahead of this offset, up to which everything was fetched. */
  #ahead: { readonly of: number; readonly since: number } | undefined;

  constructor(committed: GroupPosition, options: TrackerOptions) {
    super(committed, Math.max(committed.offset, 0), options);
    this.committed = committed.offset;
    this.#takenTime = committed.at;
    this.#options = options;
  }

  /** All offsets below are finished: what may be committed. */
  get watermark(): number {
    return this.#inFlight.head?.value.offset ?? this.position;
  }

  get groupPosition(): GroupPosition {
    const { topic, partition, watermark } = this;
    const at = this.#inFlight.head?.value.timestamp ?? this.#takenTime;
    return { topic, partition, offset: watermark, at };
  }

  /** Offsets that a crash now would repeat, at most. */
  get span(): number {
    return this.position - this.watermark;
  }

  get lag(): number {
    return Math.max(0, this.highWatermark - this.watermark);
  }

  /**
   * When the oldest record that is not finished was appended (Unix ms); of those that no fetch brings, when the end was seen ahead.
   * Undefined when none is known.
   */
  get oldestAt(): number | undefined {
    return (this.#inFlight.head?.value ?? this.peek())?.timestamp ?? this.#ahead?.since;
  }

  /** The log's end, as a broker reported it. An open transaction, or a fetch that fails, withholds what lies before it. */
  sawEnd(end: number): void {
    this.highWatermark = end;
    if (end <= this.nextFetch) this.#ahead = undefined;
    else if (this.#ahead?.of !== this.nextFetch)
      this.#ahead = { of: this.nextFetch, since: this.#options.now() };
  }

  want(): number | undefined {
    return this.assigned && !this.full ? this.nextFetch : undefined;
  }

  override accept(fetched: FetchedPartition, request: { readonly offset: number }): void {
    if (request.offset !== this.want()) return;
    if (request.offset >= this.#end.offset) {
      this.appendedAfter = this.#end.seenAt;
      this.#end = { offset: fetched.highWatermark, seenAt: this.#options.now() };
    }
    super.accept(fetched, request);
    this.isUnfetched = false;
    this.sawEnd(fetched.highWatermark);
    this.#options.onFetched();
  }

  outOfRange(offset: number): void {
    const isTruncated = offset < this.nextFetch;
    this.nextFetch = offset;
    if (!isTruncated) return; // Deleted by retention: what is buffered and in flight goes on.
    // The log was truncated, or made anew: nothing known holds any more.
    this.seek(offset);
    this.#inFlight = new Yallist();
    this.committed = -1;
  }

  /** The group has this position. A log that was found truncated meanwhile is below it, and that has to be committed. */
  acknowledge({ offset }: GroupPosition): void {
    if (offset <= this.watermark) this.committed = offset;
  }

  /** The partition is another's now: what is buffered is dropped, what is in flight ends as it may. */
  unassign(): void {
    this.assigned = false;
    this.seek(this.position);
  }

  /** The next record, which is in flight from now on. */
  begin(): Task | undefined {
    const record = this.take();
    if (record === undefined) return undefined;
    const task = new Task(record, this);
    this.#inFlight.pushNode(task);
    this.#takenTime = record.timestamp;
    return task;
  }
}
