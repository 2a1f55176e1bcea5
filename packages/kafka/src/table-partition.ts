import type { KafkaRecord, TopicPartition } from './record.js';
import type { Feed } from './kafkajs-adapter/fetcher.js';
import type { FetchedPartition } from './protocol/fetch-protocol.js';
import { PartitionBuffer } from './protocol/partition-buffer.js';

const FETCH_BYTES = 1024 * 1024;

/** One partition of a table: read as it comes, with the proof of when its end was seen. */
export class TablePartition implements Feed {
  readonly topic: string;
  readonly partition: number;
  readonly #buffer: PartitionBuffer;
  readonly #onRecord: (record: KafkaRecord) => void;
  readonly #onFetched: () => void;
  /** Start of the last fetch that found the reader at the end. */
  freshAt = -Infinity;

  constructor(
    place: TopicPartition & { readonly earliest: number },
    onRecord: (record: KafkaRecord) => void,
    onFetched: () => void,
  ) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.#buffer = new PartitionBuffer(place, place.earliest, { fetchBytes: FETCH_BYTES });
    this.#onRecord = onRecord;
    this.#onFetched = onFetched;
  }

  get position(): number {
    return this.#buffer.position;
  }

  get maxBytes(): number {
    return this.#buffer.maxBytes;
  }

  want(): number {
    return this.#buffer.nextFetch;
  }

  accept(fetched: FetchedPartition, request: { readonly offset: number; readonly startedAt: number }): void {
    if (request.offset !== this.#buffer.nextFetch) return;
    this.#buffer.accept(fetched, request);
    for (let record = this.#buffer.take(); record !== undefined; record = this.#buffer.take()) {
      this.#onRecord(record);
    }
    // The last stable offset is the end for a reader of committed records; it was that at some time after `startedAt`.
    if (this.#buffer.position >= fetched.lastStableOffset) this.freshAt = request.startedAt;
    this.#onFetched();
  }

  outOfRange(earliest: number): void {
    this.freshAt = -Infinity;
    this.#buffer.seek(earliest);
  }
}
