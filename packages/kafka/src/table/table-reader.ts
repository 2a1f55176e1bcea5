import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { shareNext } from '@webhooks/runtime';
import { openLinkOf, type Kafka } from '../kafkajs/create-kafka.js';
import type { KafkaRecord, TopicPartition } from '../record.js';
import { backoffMs } from '../retry.js';
import type { Link } from '../kafkajs/link.js';
import { faultOf, isFatal, asError } from '../faults.js';
import { Fetcher, type Feed } from '../source/fetcher.js';
import {
  EARLIEST,
  countPartitions,
  listOffsets,
  partitionIdsOf,
  endOffsetsOf,
  requireCompacted,
} from '../kafkajs/topics.js';
import { READ_UNCOMMITTED, type FetchedPartition } from '../wire/protocol.js';
import { PartitionBuffer } from '../wire/partition-buffer.js';

type OnRecord = (record: KafkaRecord) => void;

/** One partition of a table: read as it comes, with the proof of when its end was seen. */
class TablePartition extends PartitionBuffer implements Feed {
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

/** An idle partition proves its end every 200 ms, so what is known is at most about 400 ms old. */
const MAX_WAIT_MS = 200;
/** What was not proved for longer is not fresh. Another broker may respond sooner than a request that takes longer. */
const FRESH_MS = 700;
/** Longer than any reader needs to pass offsets that are there: those of a topic that was made anew may never come. */
const CATCH_UP_MS = 30_000;
/** Moved leaders are noticed after that, if not by their refusals. */
const METADATA_MAX_AGE_MS = 5_000;

interface TableReaderOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  /** Called in the order of each partition. Must not throw: a record that cannot be used is the caller's to report. */
  readonly onRecord: (record: KafkaRecord) => void;
  /** All is read again, from the beginning: what was given before may not be on the topic any more. It was made anew, or lost records. */
  readonly onRestart?: () => void;
  /** The reader has ended (not authorised, or the topic is not compacted). */
  readonly onFatal?: (error: Error) => void;
}

/**
 * Reads in the background, whatever the broker does, up to the high watermark. The open transaction of a stranger would hide all
 * behind it otherwise, a disabling too. It needs no consumer group: no rebalance delays it, and a process that died leaves none.
 */
export const openTableReader = (options: TableReaderOptions): TableReader => new TableReader(options);

/** Whoever waits is rejected when it is closed or cannot go on. */
export class TableReader {
  readonly #options: TableReaderOptions;
  readonly #link: Link;
  readonly #fetcher: Fetcher;
  readonly #partitions = new Map<number, TablePartition>();
  #isCompacted = false;
  /** Start of the last request that found all partitions to be read. */
  #listedAt = -Infinity;
  readonly #catchUp = shareNext(() => this.#readToEnds());
  /** Wakes all who wait, to look again. */
  #progress = Promise.withResolvers<undefined>();
  #ended: Error | undefined;

  constructor(options: TableReaderOptions) {
    this.#options = options;
    this.#link = openLinkOf(options.kafka, METADATA_MAX_AGE_MS);
    this.#link.cluster.isolationLevel = READ_UNCOMMITTED;
    this.#fetcher = new Fetcher({
      link: this.#link,
      log: options.kafka.log,
      feeds: () => this.#partitions.values(),
      maxWaitMs: MAX_WAIT_MS,
      metadataMaxAgeMs: METADATA_MAX_AGE_MS,
      // What was fetched is applied before those who wait go on.
      onResponse: () => this.#wake(),
      onError: (error) => this.#endIfFatal(error),
    });
    this.#watchPartitions().catch((error: unknown) => this.#endIfFatal(error));
  }

  /** Whether every partition was proved to be read to its end within the last 700 ms, and no other partitions were found. */
  isFresh(): boolean {
    return performance.now() - this.#freshAt() <= FRESH_MS;
  }

  /** Resolves as soon as it is fresh. */
  whenFresh(): Promise<void> {
    return this.until(() => this.isFresh());
  }

  /**
   * Resolves when everything that was published before this call has been given to `onRecord`; rejects when its run
   * takes longer than 35 s.
   */
  catchUp(): Promise<void> {
    return this.#catchUp();
  }

  /** The next offset of each partition, by its number. */
  positions(): number[] {
    const known = [...this.#partitions].sort(([one], [other]) => one - other);
    return known.map(([, { position }]) => position);
  }

  /** Whether offsets by partition are known, and everything before them has been given to `onRecord`. */
  hasRead(ends: Iterable<readonly [number, number]> | undefined): boolean {
    if (ends === undefined) return false;
    return [...ends].every(([partition, end]) => (this.#partitions.get(partition)?.position ?? -1) >= end);
  }

  /** Resolves as soon as it is so; looked at after each response. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#ended) throw this.#ended;
      await this.#progress.promise;
    }
  }

  async close(): Promise<void> {
    this.#end(new Error('the table reader was closed'));
    await this.#link.close();
  }

  /** A new leader reports its end once it knows all that was acknowledged (KIP-207); a fetch does not wait for that. */
  async #readToEnds(): Promise<void> {
    const { topic } = this.#options;
    const ends = await endOffsetsOf(this.#link, topic);
    const deadlineAt = performance.now() + CATCH_UP_MS;
    await this.until(() => this.hasRead(ends) || performance.now() > deadlineAt);
    if (!this.hasRead(ends)) throw new Error(`${topic} was not read to its end within ${CATCH_UP_MS} ms`);
  }

  #wake(): void {
    this.#progress.resolve(undefined);
    this.#progress = Promise.withResolvers();
  }

  #freshAt(): number {
    let oldest = this.#listedAt;
    for (const { freshAt } of this.#partitions.values()) oldest = Math.min(oldest, freshAt);
    return oldest;
  }

  /** Lists the partitions again and again: what a partition holds that is not known yet could not be fresh. */
  async #watchPartitions(): Promise<void> {
    for (let failures = 0; !this.#ended;) {
      try {
        await this.#listPartitions();
        failures = 0;
      } catch (error) {
        failures += 1;
        this.#failed(failures, error);
      }
      await delay(failures === 0 ? MAX_WAIT_MS : backoffMs(failures), undefined, { ref: false });
    }
  }

  async #listPartitions(): Promise<void> {
    const { kafka, topic } = this.#options;
    this.#isCompacted ||= await requireCompacted(kafka, topic);
    const startedAt = performance.now();
    const count = await countPartitions(this.#link, topic, FRESH_MS);
    if (count < this.#partitions.size) this.#restart();
    if (count === 0 || count > this.#partitions.size) await this.#addPartitions();
    if (count <= this.#partitions.size) this.#listedAt = startedAt;
    this.#wake();
  }

  async #addPartitions(): Promise<void> {
    const { topic } = this.#options;
    await this.#link.cluster.refreshMetadata();
    const all = await partitionIdsOf(this.#link, topic);
    const partitions = all.filter((partition) => !this.#partitions.has(partition));
    const offsets = await listOffsets(this.#link, topic, partitions, EARLIEST);
    for (const partition of partitions) {
      const earliest = offsets.get(partition) ?? 0;
      const onRecord = (record: KafkaRecord) => this.#deliver(record);
      const restart = () => this.#restart();
      this.#partitions.set(partition, new TablePartition({ topic, partition }, earliest, onRecord, restart));
    }
    this.#fetcher.kick();
  }

  /** All partitions: the others may have been made anew, too, and have grown beyond what was read of them. */
  #restart(): void {
    const { kafka, topic, onRestart } = this.#options;
    kafka.log('error', 'kafka: a topic was made anew, or lost records; all of it is read again', { topic });
    // What is on its way is not taken any more.
    for (const partition of this.#partitions.values()) partition.seek(-Infinity);
    this.#partitions.clear();
    this.#listedAt = -Infinity;
    onRestart?.();
  }

  #deliver(record: KafkaRecord): void {
    try {
      this.#options.onRecord(record);
    } catch (error) {
      const { topic, partition, offset } = record;
      const fields = { topic, partition, offset, error: asError(error).message };
      this.#options.kafka.log('error', 'kafka: a table does not take a record; it is passed over', fields);
    }
  }

  #failed(failures: number, error: unknown): void {
    this.#endIfFatal(error);
    if (this.#ended) return;
    this.#wake(); // whose time is over
    const { kafka, topic } = this.#options;
    const level = this.#listedAt === -Infinity ? 'warn' : 'debug';
    const fields = { topic, failures, ...faultOf(error) };
    kafka.log(level, 'kafka: a table could not be read, trying again', fields);
  }

  #endIfFatal(error: unknown): void {
    if (!isFatal(error) || this.#ended) return;
    this.#end(asError(error));
    this.#options.onFatal?.(asError(error));
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    this.#fetcher.stop();
    this.#wake();
  }
}
