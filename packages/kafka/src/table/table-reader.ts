import { setTimeout as delay } from 'node:timers/promises';
import { shareNext } from '@webhooks/runtime';
import type { Kafka } from '../kafkajs/create-kafka.js';
import type { KafkaRecord, TopicPartition } from '../record.js';
import { backoffMs } from '../retry.js';
import type { Connections } from '../kafkajs/connections.js';
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
import { CATCH_UP_MS, FRESH_MS, TABLE_FETCH_WAIT_MS, TABLE_METADATA_MS } from '../limits.js';

type OnRecord = (record: KafkaRecord) => void;

/** One partition of a table, and when the reader was last at its end. */
class TablePartition extends PartitionBuffer implements Feed {
  readonly #onRecord: OnRecord;
  readonly #start: number;
  readonly resetTo: () => void;
  /** Start of the last request whose response showed the reader at the end; time of `performance.now()`. */
  freshAt = -Infinity;

  constructor(place: TopicPartition, earliest: number, onRecord: OnRecord, restart: () => void) {
    super(place, earliest);
    this.#onRecord = onRecord;
    this.#start = earliest;
    this.resetTo = restart;
  }

  fetchOffset(): number {
    return this.nextFetch;
  }

  override accept(
    fetched: FetchedPartition,
    request: { readonly offset: number; readonly startedAt: number },
  ): void {
    if (request.offset !== this.nextFetch) return;
    // Compaction never moves the log's start. A moved start means that records were deleted by another policy.
    if (fetched.logStart > this.#start) return this.resetTo();
    super.accept(fetched, request);
    for (let record = this.take(); record !== undefined; record = this.take()) this.#onRecord(record);
    // The reader was at the end at some time after `startedAt`.
    if (this.position >= fetched.highWatermark) this.freshAt = Math.max(this.freshAt, request.startedAt);
  }
}

interface TableReaderOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  /**
   * Called for each record, in order within a partition. Must not throw: the caller reports records that it cannot
   * use.
   */
  readonly onRecord: (record: KafkaRecord) => void;
  /**
   * Called when the topic was recreated or lost records. It is read again from its beginning. Records passed to
   * `onRecord` before may no longer exist.
   */
  readonly onRestart?: () => void;
  /** Called when the reader cannot recover: the topic is not compacted. */
  readonly onFatal?: (error: Error) => void;
}

/**
 * Reads a compacted topic in the background, up to the high watermark. Another producer's open transaction must not
 * hide later records, such as one that disables a webhook. The reader needs no consumer group, so no rebalance
 * delays it and a killed process leaves no member behind.
 */
export const openTableReader = (options: TableReaderOptions): TableReader => new TableReader(options);

/** Reader of a compacted topic. Its promises reject when it is closed or cannot recover. */
export class TableReader {
  readonly #options: TableReaderOptions;
  readonly #connections: Connections;
  readonly #fetcher: Fetcher;
  readonly #partitions = new Map<number, TablePartition>();
  #isCompacted = false;
  /** Start of the last request that showed no partitions besides the known ones. */
  #listedAt = -Infinity;
  readonly #catchUp = shareNext(() => this.#readToEnds());
  /** Resolves when waiting callers must check their condition again. */
  #progress = Promise.withResolvers<undefined>();
  #ended: Error | undefined;

  constructor(options: TableReaderOptions) {
    this.#options = options;
    this.#connections = options.kafka.openConnections(TABLE_METADATA_MS);
    this.#connections.cluster.isolationLevel = READ_UNCOMMITTED;
    this.#fetcher = new Fetcher({
      connections: this.#connections,
      feeds: () => this.#partitions.values(),
      maxWaitMs: TABLE_FETCH_WAIT_MS,
      // Fetched records are applied before waiting callers continue.
      onResponse: () => this.#wake(),
      onError: (error) => this.#endIfFatal(error),
    });
    this.#watchPartitions().catch((error: unknown) => this.#endIfFatal(error));
  }

  /** Resolves when everything published before this call has been passed to `onRecord`. Rejects after 35 s, or 70 s while another call waits. */
  catchUp(): Promise<void> {
    return this.#catchUp();
  }

  /**
   * Whether, within the last 700 ms, every partition was proved to be read to its end and no further partition
   * existed.
   */
  isFresh(): boolean {
    return performance.now() - this.#freshAt() <= FRESH_MS;
  }

  /** Resolves when the table is fresh. */
  whenFresh(): Promise<void> {
    return this.until(() => this.isFresh());
  }

  /** Resolves when the table was proved to be fresh after this call. A topic that was recreated before it has been noticed by then. */
  whenProved(): Promise<void> {
    const begunAt = performance.now();
    return this.until(() => this.#freshAt() >= begunAt);
  }

  /** Returns the next offset of each partition, in the order of partition numbers. */
  positions(): number[] {
    const known = [...this.#partitions].sort(([one], [other]) => one - other);
    return known.map(([, { position }]) => position);
  }

  /**
   * Whether everything before these offsets, by partition, has been passed to `onRecord`. False when `ends` is
   * undefined.
   */
  hasRead(ends: Iterable<readonly [number, number]> | undefined): boolean {
    if (ends === undefined) return false;
    return [...ends].every(([partition, end]) => (this.#partitions.get(partition)?.position ?? -1) >= end);
  }

  /** Resolves when the condition `isSo` is true. It is checked after each response. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#ended) throw this.#ended;
      await this.#progress.promise;
    }
  }

  async close(): Promise<void> {
    this.#end(new Error('the table reader was closed'));
    await this.#connections.close();
  }

  /**
   * Reads to the current ends. They are requested from the leaders, because a new leader reports its end only when
   * it knows all acknowledged records (KIP-207).
   */
  async #readToEnds(): Promise<void> {
    const { topic } = this.#options;
    const ends = await endOffsetsOf(this.#connections, topic);
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

  /** Lists the partitions twice while a proof is fresh. A partition that is not known yet makes the table stale. */
  async #watchPartitions(): Promise<void> {
    for (let failures = 0; !this.#ended;) {
      try {
        await this.#listPartitions();
        failures = 0;
      } catch (error) {
        failures += 1;
        this.#failed(failures, error);
      }
      await delay(failures === 0 ? FRESH_MS / 2 : backoffMs(failures), undefined, { ref: false });
    }
  }

  async #listPartitions(): Promise<void> {
    const { kafka, topic } = this.#options;
    this.#isCompacted ||= await requireCompacted(kafka, topic);
    const startedAt = performance.now();
    const count = await countPartitions(this.#connections, topic, FRESH_MS);
    if (count < this.#partitions.size) this.#restart();
    if (count === 0 || count > this.#partitions.size) await this.#addPartitions();
    if (count <= this.#partitions.size) this.#listedAt = startedAt;
    this.#wake();
  }

  async #addPartitions(): Promise<void> {
    const { topic } = this.#options;
    await this.#connections.cluster.refreshMetadata();
    const all = await partitionIdsOf(this.#connections, topic);
    const partitions = all.filter((partition) => !this.#partitions.has(partition));
    const offsets = await listOffsets(this.#connections, topic, partitions, EARLIEST);
    for (const partition of partitions) {
      const earliest = offsets.get(partition) ?? 0;
      const onRecord = (record: KafkaRecord) => this.#deliver(record);
      const restart = () => this.#restart();
      this.#partitions.set(partition, new TablePartition({ topic, partition }, earliest, onRecord, restart));
    }
    this.#fetcher.kick();
  }

  /**
   * Reads all partitions again. The other partitions may have been recreated too, and may have grown past the
   * positions already read.
   */
  #restart(): void {
    const { kafka, topic, onRestart } = this.#options;
    kafka.log('error', 'kafka: a topic was recreated or lost records; reading all of it again', { topic });
    // Responses to requests in flight are ignored.
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
      this.#options.kafka.log('error', 'kafka: a table could not apply a record; skipping it', fields);
    }
  }

  #failed(failures: number, error: unknown): void {
    this.#endIfFatal(error);
    if (this.#ended) return;
    this.#wake(); // a deadline may have passed
    const { kafka, topic } = this.#options;
    const level = this.#listedAt === -Infinity ? 'warn' : 'debug';
    const fields = { topic, failures, ...faultOf(error) };
    kafka.log(level, 'kafka: a table could not be read; retrying', fields);
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
