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

/** A record in flight, as a node in its partition's list. One is made for each record, so it has no closures. */
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

  /** The record is handled. A truncated partition has already dropped it from its list. */
  finish(): void {
    this.list?.removeNode(this);
  }
}

/**
 * One assigned partition: what is fetched, what is in flight, what may be committed.
 *
 * Everything below the position is in flight or finished. So it remembers only the records in flight, which the window bounds,
 * however many offsets are finished behind a slow one.
 */
export class PartitionTracker extends PartitionBuffer implements Feed {
  readonly #options: TrackerOptions;
  /** Ascending. Its head is read with each record. A Set would search for its first member behind all deleted ones. */
  #inFlight = new Yallist<KafkaRecord>();
  assigned = true;
  /** Time of the last record taken, or of the committed position (Unix ms). */
  #takenTime: number | undefined;
  /** The end of the log in the last response that reading has reached, and when that response came. */
  #end = { offset: -1, seenAt: -Infinity };
  /** Buffered records were appended after this time of our own clock. The broker's clock may differ. */
  appendedAfter = -Infinity;
  /** The offset that the group has committed; -1 for none. */
  committed: number;
  /** No fetch has reported this partition since the owner set it. */
  isUnfetched = false;
  /** Since when the log's end lies ahead of `of`, the offset up to which everything was fetched. */
  #ahead: { readonly of: number; readonly since: number } | undefined;

  constructor(committed: GroupPosition, options: TrackerOptions) {
    super(committed, Math.max(committed.offset, 0), options);
    this.committed = committed.offset;
    this.#takenTime = committed.at;
    this.#options = options;
  }

  /** All offsets below it are finished, so it may be committed. */
  get watermark(): number {
    return this.#inFlight.head?.value.offset ?? this.position;
  }

  get groupPosition(): GroupPosition {
    const { topic, partition, watermark } = this;
    const at = this.#inFlight.head?.value.timestamp ?? this.#takenTime;
    return { topic, partition, offset: watermark, at };
  }

  /** The most offsets that a crash now would repeat. */
  get span(): number {
    return this.position - this.watermark;
  }

  get lag(): number {
    return Math.max(0, this.highWatermark - this.watermark);
  }

  /**
   * When the oldest unfinished record was appended (Unix ms). Of a record that no fetch brings: when the end was seen ahead of it.
   * Undefined when there is none.
   */
  get oldestAt(): number | undefined {
    return (this.#inFlight.head?.value ?? this.peek())?.timestamp ?? this.#ahead?.since;
  }

  /** Takes the end of the log as a broker reported it. An open transaction, or a failing fetch, withholds records before it. */
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
    if (!isTruncated) return; // Retention deleted records: what is buffered and in flight goes on.
    // The log was truncated or made anew, so its offsets mean other records now.
    this.seek(offset);
    this.#inFlight = new Yallist();
    this.committed = -1;
  }

  /** The group has committed this position. A log truncated meanwhile is below it, and its own watermark is still to commit. */
  acknowledge({ offset }: GroupPosition): void {
    if (offset <= this.watermark) this.committed = offset;
  }

  /** The partition was lost: what is buffered is dropped, what is in flight runs to its end. */
  unassign(): void {
    this.assigned = false;
    this.seek(this.position);
  }

  /** Takes the next record, which is in flight from now on. */
  begin(): Task | undefined {
    const record = this.take();
    if (record === undefined) return undefined;
    const task = new Task(record, this);
    this.#inFlight.pushNode(task);
    this.#takenTime = record.timestamp;
    return task;
  }
}
