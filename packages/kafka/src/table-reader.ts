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
import { listOffsets, partitionIdsOf } from './kafkajs-adapter/offsets.js';

/** An idle partition proves its end every 200 ms, so what is known is at most about 400 ms old (700 are allowed). */
const MAX_WAIT_MS = 200;
/** New partitions are noticed after that. */
const METADATA_MAX_AGE_MS = 5_000;

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
  #loading = false;
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
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
      onMetadata: () => this.#lookForPartitions(),
      onError: (error) => this.#watchForFatal(error),
    });
    this.#lookForPartitions();
  }

  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Finds the partitions that are not read yet; at the start, all of them. */
  #lookForPartitions(): void {
    if (this.#loading || this.#closed) return;
    this.#loading = true;
    this.#addPartitions()
      .then(() => {
        this.#failures = 0;
      })
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#loading = false;
      });
  }

  async #addPartitions(): Promise<void> {
    const { topic } = this.#options;
    const all = await partitionIdsOf(this.#link, topic);
    const added = all.filter((partition) => !this.#partitions.has(partition));
    if (added.length > 0) {
      const earliest = await listOffsets(this.#link, topic, { partitions: added, earliest: true });
      for (const partition of added) this.#add(partition, earliest.get(partition) ?? 0);
    }
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

  #failed(error: unknown): void {
    if (this.#closed || this.#watchForFatal(error)) return;
    this.#failures += 1;
    const fields = { topic: this.#options.topic, failures: this.#failures, ...faultOf(error) };
    this.#options.kafka.log('warn', 'kafka: a table could not be read, trying again', fields);
    this.#retry = setTimeout(() => this.#lookForPartitions(), backoffMs(this.#failures));
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
    let oldest = Infinity;
    for (const { freshAt } of this.#partitions.values()) oldest = Math.min(oldest, freshAt);
    return oldest;
  }

  passed(ends: EndOffsets): boolean {
    for (const [partition, end] of ends) {
      if ((this.#partitions.get(partition)?.position ?? 0) < end) return false;
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
    clearTimeout(this.#retry);
    this.#caughtUp.reject(new Error('the table reader was closed'));
    this.#fetcher.stop();
    await this.#link.close();
  }
}
