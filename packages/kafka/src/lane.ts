import { Node, Yallist } from 'yallist';
import type { AssignedPartition } from './kafkajs-adapter/membership-offsets.js';
import type { KafkaRecord } from './record.js';
import type { Feed } from './kafkajs-adapter/fetcher.js';
import type { FetchedPartition } from './protocol/fetch-protocol.js';
import { PartitionBuffer, type BufferLimits } from './protocol/partition-buffer.js';

export interface LaneOptions extends BufferLimits {
  readonly onFetched: () => void;
  /** Whether a full buffer is being emptied; default: always. */
  readonly emptying?: (lane: Lane) => boolean;
}

/** Where a record in flight lies, and when it was appended (Unix milliseconds). */
type Mark = Pick<KafkaRecord, 'offset' | 'timestamp'>;

/** Ascending. A list and no Set, whose first member is found behind all that were taken out: it is asked for with each record. */
type InFlight = Yallist<Mark>;

/** A record in flight. */
export interface Task {
  readonly record: KafkaRecord;
  readonly lane: Lane;
  /** It is handled. */
  finish(): void;
  /** It will not be handled here: should the partition come back, it is read again from what is committed. */
  abandon(): void;
}

/**
 * One partition of a group: what is fetched, what is in flight, what may be committed.
 *
 * Everything below the position is either in flight or finished, so the set of offsets in flight (small: the window
 * bounds it) is all that has to be remembered, however many offsets are finished behind a slow one. It also stays true
 * while another member owns the partition: when it comes back, nothing that still runs here is handled a second time.
 */
export class Lane implements Feed {
  readonly topic: string;
  readonly partition: number;
  readonly #buffer: PartitionBuffer;
  readonly #options: LaneOptions;
  /** Replaced at each new beginning. */
  #inFlight: InFlight = new Yallist();
  #assigned = false;
  #abandoned = false;
  /** What the group has committed; -1 for nothing. */
  committed = -1;

  constructor(assigned: AssignedPartition, options: LaneOptions) {
    this.topic = assigned.topic;
    this.partition = assigned.partition;
    this.#options = options;
    this.#buffer = new PartitionBuffer(this, assigned.committed ?? assigned.earliest, options);
  }

  get assigned(): boolean {
    return this.#assigned;
  }

  /** All offsets below are finished: what may be committed. */
  get watermark(): number {
    return this.#inFlight.head?.value.offset ?? this.#buffer.position;
  }

  /** Offsets that a crash now would repeat, at most. */
  get span(): number {
    return this.#buffer.position - this.watermark;
  }

  get lag(): number {
    return Math.max(0, this.#buffer.highWatermark - this.watermark);
  }

  /** When the oldest record that is not finished was appended (Unix ms); undefined when none is known. */
  get oldestAt(): number | undefined {
    return (this.#inFlight.head?.value ?? this.#buffer.peek())?.timestamp;
  }

  /** The partition's end was seen otherwise than by a fetch. */
  sawEnd(end: number): void {
    this.#buffer.highWatermark = Math.max(this.#buffer.highWatermark, end);
  }

  get maxBytes(): number {
    return this.#buffer.maxBytes;
  }

  want(): number | undefined {
    return this.#assigned && !this.#buffer.full ? this.#buffer.nextFetch : undefined;
  }

  busy(): boolean {
    return this.#assigned && this.#buffer.full && (this.#options.emptying?.(this) ?? true);
  }

  accept(fetched: FetchedPartition, request: { readonly offset: number }): void {
    if (!this.#assigned) return;
    this.#buffer.accept(fetched, request.offset);
    this.#options.onFetched();
  }

  outOfRange(earliest: number): void {
    // Deleted by retention: what is buffered and in flight goes on. Truncated or made anew: nothing known holds any more.
    if (earliest >= this.#buffer.nextFetch) this.#buffer.skipAhead(earliest);
    else this.#restart(earliest);
  }

  /** The partition is ours (again): go on where this process, or whoever went further, stopped. */
  assign({ committed, earliest }: AssignedPartition): void {
    const known = committed ?? -1;
    const vanished = known < 0 && this.committed >= 0; // the topic was made anew
    if (vanished || this.#abandoned) this.#restart(committed ?? earliest);
    else if (known > this.watermark) this.#skipTo(known);
    this.committed = known;
    this.#assigned = true;
  }

  /** The partition is another's now: what is buffered is dropped, what is in flight ends as it may. */
  unassign(): void {
    this.#assigned = false;
    this.#buffer.seek(this.#buffer.position);
  }

  #skipTo(offset: number): void {
    const inFlight = this.#inFlight;
    while (inFlight.head && inFlight.head.value.offset < offset) inFlight.removeNode(inFlight.head);
    if (offset > this.#buffer.position) this.#buffer.seek(offset);
  }

  #restart(offset: number): void {
    this.#inFlight = new Yallist();
    this.#abandoned = false;
    this.#buffer.seek(offset);
    this.committed = -1;
  }

  peek(): KafkaRecord | undefined {
    return this.#buffer.peek();
  }

  /** The next record, which is then in flight. */
  take(): Task | undefined {
    const record = this.#buffer.take();
    if (record === undefined) return undefined;
    const mark = new Node<Mark>({ offset: record.offset, timestamp: record.timestamp });
    this.#inFlight.pushNode(mark);
    return new Taken(this, record, this.#inFlight, mark);
  }

  /** One of these will not be handled here; of an earlier beginning, nothing is to be repeated for it. */
  abandon(inFlight: InFlight): void {
    if (inFlight === this.#inFlight) this.#abandoned = true;
  }
}

/** A task is made for each record: a class, because closures of its own were half of what it takes. */
class Taken implements Task {
  readonly record: KafkaRecord;
  readonly lane: Lane;
  readonly #inFlight: InFlight;
  /** In no list any more when it is finished, or was passed over. */
  readonly #mark: Node<Mark>;

  constructor(lane: Lane, record: KafkaRecord, inFlight: InFlight, mark: Node<Mark>) {
    this.lane = lane;
    this.record = record;
    this.#inFlight = inFlight;
    this.#mark = mark;
  }

  finish(): void {
    this.#mark.list?.removeNode(this.#mark);
  }

  abandon(): void {
    this.lane.abandon(this.#inFlight);
  }
}
