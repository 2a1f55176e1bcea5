import { setTimeout as sleep } from 'node:timers/promises';
import { openSource } from '@webhooks/kafka';
import type { KafkaRecord, Source, SourceOptions } from '@webhooks/kafka';
import { errorFields, watchSource } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';
import { mongo } from 'mongoose';

/**
 * Writes documents from the records of topics. Records may be applied repeatedly, and partitions in any order, with the
 * same result.
 */
export interface Projection {
  /** Part of the consumer group's name and of the metrics. */
  readonly name: string;
  readonly topics: readonly string[];
  /** Most bytes of one batch; default: no bound. A larger record is a batch of its own. */
  readonly maxBytes?: number;
  /** Milliseconds from one fetch to the next, unless a query waits or the broker has more; default 200. */
  readonly intervalMs?: number;
  /** Whether, beside other instances, it reads as often as they look at its positions. Their queries cannot make it read. */
  readonly readsForOthers?: boolean;
  /** Name of its positions, if another projection publishes those of the same topic; default: the topic. */
  readonly positionsName?: string;
  /** Writes the records. Must be idempotent: the call is repeated with the same records after a rejection. */
  readonly apply: (records: readonly KafkaRecord[]) => Promise<void>;
}

type BatchesOptions = Pick<Projection, 'name' | 'apply' | 'maxBytes'> & { readonly log: Logger };

/** Default of `intervalMs`. A record that comes after a pause is written at once; a higher rate of batches would slow queries. */
const INTERVAL_MS = 200;
/** Pause before a batch is tried again. */
const PAUSE_MS = 500;

/** The timestamp tells a recreated topic from the one before. */
const recordPlaceOf = ({ topic, partition, offset, timestamp }: KafkaRecord): string =>
  [topic, partition, offset, timestamp].join('/');

interface Waiting {
  readonly item: KafkaRecord;
  readonly done: (value: undefined) => void;
}

/**
 * Applies items in batches, one batch at a time. While a batch is written, further items collect for the next one. A
 * failed batch is tried again before the next one, which keeps the order of a partition. The caller of `add` bounds the
 * number of waiting items.
 */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #stopping = new AbortController();
  readonly #waiting: Waiting[] = [];
  #running = false;
  #failures = 0;

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the item is applied. Never rejects, and never resolves for an item that was not applied before
   * `stop`.
   */
  add(item: KafkaRecord): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#waiting.push({ item, done: resolve });
    if (!this.#running) {
      this.#running = true;
      // Up to 32 items of one fetch arrive in the same turn of the event loop.
      setImmediate(() => {
        this.#run().catch((error: unknown) => {
          this.#options.log.error(`${this.#options.name}: batches stopped`, errorFields(error));
        });
      });
    }
    return promise;
  }

  /** Stops applying. The next owner of the partitions reads the unapplied records again. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      const batch = this.#next();
      if (!(await this.#isApplied(batch))) {
        await sleep(PAUSE_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
        continue;
      }
      this.#waiting.splice(0, batch.length);
      for (const { done } of batch) done(undefined);
    }
    this.#running = false;
  }

  /** Returns the items of the next batch. */
  #next(): readonly Waiting[] {
    const { maxBytes = Infinity } = this.#options;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ item }, index) => (bytes += item.size) > maxBytes && index > 0);
    return this.#waiting.slice(0, end < 0 ? undefined : end);
  }

  async #isApplied(batch: readonly Waiting[]): Promise<boolean> {
    const { name, apply, log } = this.#options;
    try {
      // A partition that came back brings the records again that still wait here.
      const distinct = new Map(batch.map(({ item }) => [recordPlaceOf(item), item]));
      await apply([...distinct.values()]);
      if (this.#failures > 0) log.info(`${name}: writing has recovered`, { failures: this.#failures });
      this.#failures = 0;
      return true;
    } catch (error) {
      if (this.#failures === 0) log.warn(`${name}: writing failed; trying again`, errorFields(error));
      this.#failures += 1;
      return false;
    }
  }
}

export type RunningProjection = Pick<Source, 'health' | 'positions' | 'fetchNow' | 'stop'>;

/** Bounds of the records that are read and not yet written. A burst fills them while the database is slow. */
const WINDOW = { maxInFlight: 4_000, maxInFlightBytes: 32 * 1_048_576 };

/** Reads the topics of a projection as a member of its group and applies their records, until it is stopped. */
export async function openProjection(
  projection: Projection,
  member: Pick<SourceOptions, 'kafka' | 'groupId' | 'onProgress'>,
  scope: ServiceScope,
): Promise<RunningProjection> {
  const { name, topics, intervalMs: fetchIntervalMs = INTERVAL_MS } = projection;
  const batches = new Batches({ ...projection, log: scope.log });
  const handle = (record: KafkaRecord): Promise<unknown> => batches.add(record);
  const options = { ...member, topics, fetchIntervalMs, window: WINDOW, onFatal: scope.fail };
  const source = await openSource({ ...options, handle });
  const unwatch = watchSource(name, source, scope);
  return {
    ...source,
    stop: async (deadline) => {
      unwatch();
      const report = await source.stop(deadline);
      batches.stop();
      return report;
    },
  };
}

/**
 * Codes by which a server refuses the content of a document: too large (10334, 17419, 17420), an index key too long
 * (17280), not BSON (22), a member's name (52, 56, 57), a rule of the collection (121). Other codes, such as
 * BadValue, may concern the statement or the server, so they are tried again.
 */
const REFUSED: ReadonlySet<unknown> = new Set([10_334, 17_419, 17_420, 17_280, 22, 52, 56, 57, 121]);
/** The message of the driver. Other invalid arguments are bugs of this service. */
const TOO_LARGE = /^Document is larger than the maximum size/;

/**
 * Whether the database refused the content of a document, so that another try is useless. Checks the error and its
 * causes.
 */
export function isRefusal(error: unknown): boolean {
  const { code, cause, writeErrors } = Object(error) as Partial<mongo.MongoBulkWriteError>;
  // The driver encodes a document before sending. Encoding fails for a document that is not BSON or too large.
  if (error instanceof mongo.BSON.BSONError || code === 'ERR_OUT_OF_RANGE') return true;
  if (error instanceof mongo.MongoInvalidArgumentError && TOO_LARGE.test(error.message)) return true;
  const faults = error instanceof mongo.MongoServerError ? [error, writeErrors].flat() : [];
  if (faults.some((fault) => REFUSED.has(fault?.code))) return true;
  return cause !== undefined && isRefusal(cause);
}

/** Reports a record that was skipped, whole or in part. `reason`: a fixed word. The record stays in its topic. */
export type OnSkipped = (record: KafkaRecord, reason: string) => void;

/**
 * Returns the projection with a rule for refused records, so that one record cannot stop it. A refused batch is halved
 * until the refused record is alone; that record is reported and skipped. All other faults are thrown.
 */
export function skipRefused(projection: Projection, report: OnSkipped): Projection {
  const apply = async (records: readonly KafkaRecord[]): Promise<void> => {
    try {
      await projection.apply(records);
    } catch (error) {
      const [only, ...others] = records;
      if (!only || !isRefusal(error)) throw error;
      if (others.length === 0) {
        report(only, 'refused');
        return;
      }
      // One half after the other: this keeps the order of a partition.
      const half = Math.ceil(records.length / 2);
      await apply(records.slice(0, half));
      await apply(records.slice(half));
    }
  };
  return { ...projection, apply };
}
