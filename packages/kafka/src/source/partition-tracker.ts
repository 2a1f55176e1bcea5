import { Node, Yallist } from 'yallist';
import type { Feed } from './fetcher.js';
import type { GroupPosition } from '../kafkajs/membership.js';
import type { FetchedPartition } from '../wire/protocol.js';
import { PartitionBuffer, type BufferLimits } from '../wire/partition-buffer.js';
import type { KafkaRecord } from '../record.js';

export interface TrackerOptions extends BufferLimits {
  /** Returns Unix milliseconds. */
  readonly now: () => number;
  /** Called after each accepted fetch. */
  readonly onFetched: () => void;
}

/** A record in flight, as a node in its partition's list. One is created for each record, so it has no closures. */
export class InFlightRecord extends Node<KafkaRecord> {
  readonly tracker: PartitionTracker;
  /** When the record is due to be handled, Unix milliseconds; `-Infinity` means now. */
  due = -Infinity;

  constructor(record: KafkaRecord, tracker: PartitionTracker) {
    super(record);
    this.tracker = tracker;
  }

  get record(): KafkaRecord {
    return this.value;
  }

  /** Removes the handled record from its list, which after a truncation is no longer its partition's. */
  finish(): void {
    this.list?.removeNode(this);
  }
}

/**
 * One assigned partition: its fetched records, its records in flight, and its committable offset.
 *
 * Every record below the position is in flight or finished. So only the records in flight are stored, which the
 * window bounds, however many offsets are finished behind a slow record.
 */
export class PartitionTracker extends PartitionBuffer implements Feed {
  readonly #options: TrackerOptions;
  /**
   * In ascending order of offsets. The head is read for each record. A Set would scan all deleted entries to find
   * its first member.
   */
  #inFlight = new Yallist<KafkaRecord>();
  assigned = true;
  /** Timestamp of the last record taken, or of the committed position (Unix ms). */
  #lastTimestamp: number | undefined;
  /**
   * A reported end of the log that fetching has not passed yet, and when it was reported. Records from it on were
   * appended later.
   */
  #end = { offset: -1, seenAt: -Infinity };
  /** Buffered records were appended after this time of this process's clock. The broker's clock may differ. */
  appendedAfter = -Infinity;
  /** The offset that the group has committed; -1 for none. */
  committed: number;
  /** Set at each heartbeat, cleared by each fetch response. */
  isUnfetched = false;
  /** Since when the log has ended beyond `fetchedTo`, while no fetch got past it. */
  #ahead: { readonly fetchedTo: number; readonly since: number } | undefined;

  constructor(committed: GroupPosition, options: TrackerOptions) {
    super(committed, Math.max(committed.offset, 0), options);
    this.committed = committed.offset;
    this.#lastTimestamp = committed.at;
    this.#options = options;
  }

  /** The lowest offset that is not finished. All offsets below it may be committed. */
  get committable(): number {
    return this.#inFlight.head?.value.offset ?? this.position;
  }

  /** Whether the committable offset is beyond the committed one. */
  get hasMoved(): boolean {
    return this.assigned && this.committable > this.committed;
  }

  /** The position to commit, with its time. */
  get groupPosition(): GroupPosition {
    const { topic, partition, committable } = this;
    const at = this.#inFlight.head?.value.timestamp ?? this.#lastTimestamp;
    return { topic, partition, offset: committable, at };
  }

  /**
   * When the oldest unfinished record was appended (Unix ms). When no fetch returns that record: since when the log
   * has ended beyond the last fetch. Undefined when there is none.
   */
  get oldestAt(): number | undefined {
    return (this.#inFlight.head?.value ?? this.peek())?.timestamp ?? this.#ahead?.since;
  }

  /**
   * Stores the end of the log that a broker reported. Records before it may be withheld by an open transaction or a
   * failing fetch.
   */
  updateHighWatermark(end: number): void {
    this.highWatermark = end;
    if (end <= this.nextFetch) this.#ahead = undefined;
    else if (this.#ahead?.fetchedTo !== this.nextFetch)
      this.#ahead = { fetchedTo: this.nextFetch, since: this.#options.now() };
  }

  fetchOffset(): number | undefined {
    return this.assigned && !this.full ? this.nextFetch : undefined;
  }

  override accept(fetched: FetchedPartition, request: { readonly offset: number }): void {
    if (request.offset !== this.fetchOffset()) return;
    if (request.offset >= this.#end.offset) {
      this.appendedAfter = this.#end.seenAt;
      this.#end = { offset: fetched.highWatermark, seenAt: this.#options.now() };
    }
    super.accept(fetched, request);
    this.isUnfetched = false;
    this.updateHighWatermark(fetched.highWatermark);
    this.#options.onFetched();
  }

  resetTo(offset: number): void {
    const isTruncated = offset < this.nextFetch;
    this.nextFetch = offset;
    if (!isTruncated) return; // Retention deleted records; buffered ones and those in flight are still valid.
    // The log was truncated or recreated, so its offsets now belong to other records.
    this.seek(offset);
    this.#inFlight = new Yallist();
    this.committed = -1;
  }

  /**
   * Stores the position that the group has committed. Ignored when a truncation has set the committable offset below
   * it: the lower one is committed next.
   */
  acknowledge({ offset }: GroupPosition): void {
    if (offset <= this.committable) this.committed = offset;
  }

  /** Marks the partition as lost. Buffered records are dropped; those in flight are not handled again when they fail. */
  unassign(): void {
    this.assigned = false;
    this.seek(this.position);
  }

  /** Takes the next record, which is in flight from now on; undefined when nothing is buffered. */
  begin(): InFlightRecord | undefined {
    const record = this.take();
    if (record === undefined) return undefined;
    const entry = new InFlightRecord(record, this);
    this.#inFlight.pushNode(entry);
    this.#lastTimestamp = record.timestamp;
    return entry;
  }
}
