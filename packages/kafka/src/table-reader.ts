import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { openLinkOf } from './kafkajs-adapter/create-kafka.js';
import type { KafkaRecord } from './record.js';
import { TablePartition } from './table-partition.js';
import type { EndOffsets, TableReader, TableReaderOptions } from './table-reader-types.js';
import { fetchEndOffsets } from './kafkajs-adapter/topics.js';
import { backoffMs } from './kafkajs-adapter/backoff.js';
import type { Link } from './kafkajs-adapter/connect.js';
import { faultOf, isFatal } from './kafkajs-adapter/faults.js';
import { asError } from './protocol/as-error.js';
import { Fetcher } from './kafkajs-adapter/fetcher.js';
import { countPartitions, listOffsets, partitionIdsOf } from './kafkajs-adapter/offsets.js';

/** An idle partition proves its end every 200 ms, so what is known is at most about 400 ms old (700 are allowed). */
const MAX_WAIT_MS = 200;
/** Moved leaders are noticed after that, if not by their refusals. */
const METADATA_MAX_AGE_MS = 5_000;
/** Nothing is fresh for longer: another broker may respond sooner. */
const LIST_DEADLINE_MS = 700;

/**
 * Resolves at once and reads in the background, whatever the broker does; see `caughtUp`. It needs no consumer group, so
 * a rebalance cannot delay it and no group is left behind by a process that died.
 */
export function openTableReader(options: TableReaderOptions): Promise<TableReader> {
  return Promise.resolve(new GrouplessReader(options));
}

class GrouplessReader implements TableReader {
  readonly #options: TableReaderOptions;
  readonly #link: Link;
  readonly #fetcher: Fetcher;
  readonly #partitions = new Map<number, TablePartition>();
  readonly #caughtUp = Promise.withResolvers<undefined>();
  #firstEnds: EndOffsets | undefined;
  /** Start of the last request that found all partitions to be read. */
  #listedAt = -Infinity;
  #closed = false;

  constructor(options: TableReaderOptions) {
    this.#options = options;
    this.#caughtUp.promise.catch(() => undefined);
    this.#link = openLinkOf(options.kafka, METADATA_MAX_AGE_MS);
    this.#fetcher = new Fetcher({
      link: this.#link,
      log: options.kafka.log,
      feeds: () => this.#partitions.values(),
      maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
      metadataMaxAgeMs: METADATA_MAX_AGE_MS,
      onError: (error) => this.#watchForFatal(error),
    });
    this.#watchPartitions().catch((error: unknown) => this.#watchForFatal(error));
  }

  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Lists the partitions again and again: what a partition holds that is not known yet could not be fresh. */
  async #watchPartitions(): Promise<void> {
    const { maxWaitMs = MAX_WAIT_MS } = this.#options;
    for (let failures = 0; !this.#closed;) {
      try {
        await this.#listPartitions();
        failures = 0;
      } catch (error) {
        if (this.#watchForFatal(error)) return;
        failures += 1;
        this.#logFailure(failures, error);
      }
      await delay(failures === 0 ? maxWaitMs : backoffMs(failures), undefined, { ref: false });
    }
  }

  async #listPartitions(): Promise<void> {
    const startedAt = performance.now();
    const count = await countPartitions(this.#link, this.#options.topic, LIST_DEADLINE_MS);
    if (count > this.#partitions.size || this.#firstEnds === undefined) await this.#addPartitions();
    if (count <= this.#partitions.size) this.#listedAt = startedAt;
  }

  #logFailure(failures: number, error: unknown): void {
    if (this.#closed) return;
    const { kafka, topic } = this.#options;
    const level = this.#firstEnds === undefined ? 'warn' : 'debug';
    kafka.log(level, 'kafka: a table could not be read, trying again', {
      topic,
      failures,
      ...faultOf(error),
    });
  }

  async #addPartitions(): Promise<void> {
    const { topic } = this.#options;
    await this.#link.cluster.refreshMetadata();
    const all = await partitionIdsOf(this.#link, topic);
    const added = all.filter((partition) => !this.#partitions.has(partition));
    const earliest = await listOffsets(this.#link, topic, { partitions: added, earliest: true });
    for (const partition of added) this.#add(partition, earliest.get(partition) ?? 0);
    this.#firstEnds ??= await listOffsets(this.#link, topic, { partitions: all, earliest: false });
    this.#checkCaughtUp();
    this.#fetcher.kick();
  }

  #add(partition: number, earliest: number): void {
    const { topic } = this.#options;
    const reader = new TablePartition(
      { topic, partition, earliest },
      (record) => this.#deliver(record),
      () => this.#checkCaughtUp(),
    );
    this.#partitions.set(partition, reader);
  }

  #deliver(record: KafkaRecord): void {
    if (this.#closed) return;
    try {
      this.#options.onRecord(record);
    } catch (error) {
      const { topic, partition, offset } = record;
      const fields = { topic, partition, offset, error: asError(error).message };
      this.#options.kafka.log(
        'error',
        'kafka: onRecord of a table must not throw; the record is passed over',
        fields,
      );
    }
  }

  #checkCaughtUp(): void {
    if (this.#firstEnds !== undefined && this.passed(this.#firstEnds)) this.#caughtUp.resolve(undefined);
  }

  #watchForFatal(error: unknown): boolean {
    if (!isFatal(error) || this.#closed) return false;
    const fatal = asError(error);
    this.#caughtUp.reject(fatal);
    this.#options.onFatal?.(fatal);
    return true;
  }

  freshAt(): number {
    if (this.#firstEnds === undefined) return -Infinity;
    let oldest = this.#listedAt;
    for (const { freshAt } of this.#partitions.values()) oldest = Math.min(oldest, freshAt);
    return oldest;
  }

  passed(ends: EndOffsets): boolean {
    for (const [partition, end] of ends) {
      if ((this.#partitions.get(partition)?.position ?? -1) < end) return false;
    }
    return true;
  }

  positions(): EndOffsets {
    return new Map([...this.#partitions].map(([partition, { position }]) => [partition, position]));
  }

  fetchEnds(options: { readonly deadlineMs?: number } = {}): Promise<EndOffsets> {
    return fetchEndOffsets(this.#options.kafka, this.#options.topic, options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#caughtUp.reject(new Error('the table reader was closed'));
    this.#fetcher.stop();
    await this.#link.close();
  }
}
