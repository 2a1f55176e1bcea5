import type { KafkaRecord, TopicPartition } from '../record.js';
import type { Feed } from '../source/fetcher.js';
import type { FetchedPartition } from '../wire/fetch-protocol.js';
import { PartitionBuffer } from '../wire/partition-buffer.js';

type OnRecord = (record: KafkaRecord) => void;

/** One partition of a table: read as it comes, with the proof of when its end was seen. */
export class TablePartition extends PartitionBuffer implements Feed {
  readonly #onRecord: OnRecord;
  readonly #start: number;
  readonly outOfRange: () => void;
  /** Start of the last request that found the reader at the end. */
  freshAt = -Infinity;

  constructor(place: TopicPartition, earliest: number, onRecord: OnRecord, outOfRange: () => void) {
    super(place, earliest);
    this.#onRecord = onRecord;
    this.#start = earliest;
    this.outOfRange = outOfRange;
  }

  want(): number {
    return this.nextFetch;
  }

  override accept(
    fetched: FetchedPartition,
    request: { readonly offset: number; readonly startedAt: number },
  ): void {
    if (request.offset !== this.nextFetch) return;
    // Compaction moves no log's start: records were deleted while the policy was another, and no offset is out of range.
    if (fetched.logStart > this.#start) return this.outOfRange();
    super.accept(fetched, request);
    for (let record = this.take(); record !== undefined; record = this.take()) this.#onRecord(record);
    // It was the end at some time after `startedAt`.
    if (this.position >= fetched.highWatermark) this.freshAt = Math.max(this.freshAt, request.startedAt);
  }
}
