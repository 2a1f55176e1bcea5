import { setTimeout as sleep } from 'node:timers/promises';
import { openSource } from '@webhooks/kafka';
import type { Kafka, KafkaRecord, Source } from '@webhooks/kafka';
import { errorFields, watchSource } from '@webhooks/runtime';
import type { Logger, ServiceScope } from '@webhooks/runtime';
import { mongo } from 'mongoose';

/**
 * Makes documents of topics. Records may be applied repeatedly, and partitions in any order, with the same result.
 */
export interface Projection {
  /** Part of the consumer group's name and of the metrics. */
  readonly name: string;
  readonly topics: readonly string[];
  /** Bytes of one batch, at most, or one larger record; default: no bound. */
  readonly maxBytes?: number;
  /** From the start of one batch to that of the next, unless a full batch waits. Default 0, milliseconds. */
  readonly intervalMs?: number;
  /** Whether instances wait for partitions that others read. If so, its positions are published in the database. */
  readonly publishesPositions?: boolean;
  /** Writes what the records report. Must be idempotent: it is repeated with the same records after a rejection. */
  readonly apply: (records: readonly KafkaRecord[]) => Promise<void>;
}

type BatchesOptions = Pick<Projection, 'name' | 'apply' | 'maxBytes' | 'intervalMs'> & {
  readonly log: Logger;
};

/** Pause between two tries. */
const PAUSE_MS = 500;

interface Waiting {
  readonly item: KafkaRecord;
  readonly done: (value: undefined) => void;
}

/**
 * Applies items in batches, one at a time. While a batch is written the next one collects, so a lone item waits for
 * nobody. A failed batch is tried again before anything behind it, which keeps the order of a partition. Whoever adds
 * items bounds how many wait.
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
      // Items of one fetch arrive in the same turn of the event loop.
      setImmediate(() => {
        this.#run().catch((error: unknown) => {
          this.#options.log.error(`${this.#options.name}: batches ended`, errorFields(error));
        });
      });
    }
    return promise;
  }

  /** Ends the tries. The next owner reads again what was not applied. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { intervalMs = 0 } = this.#options;
    while (this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      const nextAt = performance.now() + intervalMs;
      const batch = this.#next();
      if (!(await this.#isApplied(batch))) {
        await this.#pause(PAUSE_MS);
        continue;
      }
      this.#waiting.splice(0, batch.length);
      for (const { done } of batch) done(undefined);
      if (this.#next().length === this.#waiting.length) await this.#pause(nextAt - performance.now());
    }
    this.#running = false;
  }

  /** The items of the next call. */
  #next(): readonly Waiting[] {
    const { maxBytes = Infinity } = this.#options;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ item }, index) => (bytes += item.size) > maxBytes && index > 0);
    return this.#waiting.slice(0, end < 0 ? undefined : end);
  }

  async #isApplied(batch: readonly Waiting[]): Promise<boolean> {
    const { name, apply, log } = this.#options;
    try {
      await apply(batch.map(({ item }) => item));
      if (this.#failures > 0) log.info(`${name}: writing works again`, { failures: this.#failures });
      this.#failures = 0;
      return true;
    } catch (error) {
      if (this.#failures === 0) log.warn(`${name}: could not be written; trying again`, errorFields(error));
      this.#failures += 1;
      return false;
    }
  }

  /** Ends early when it is stopped. */
  async #pause(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

export type RunningProjection = Pick<Source, 'health' | 'positions' | 'stop'>;

/** Records that are read and not yet written; a flood fills this while the database is slow. */
const WINDOW = { maxInFlight: 4_000, maxInFlightBytes: 32 * 1_048_576 };

/** Reads the topics of a projection as a member of its group and applies their records, until it is stopped. */
export async function openProjection(
  projection: Projection,
  { kafka, groupId }: { readonly kafka: Kafka; readonly groupId: string },
  scope: ServiceScope,
): Promise<RunningProjection> {
  const { name, topics } = projection;
  const batches = new Batches({ ...projection, log: scope.log });
  const handle = (record: KafkaRecord): Promise<unknown> => batches.add(record);
  const source = await openSource({ kafka, groupId, topics, window: WINDOW, handle, onFatal: scope.fail });
  const unwatch = watchSource(name, source, scope);
  return {
    health: () => source.health(),
    positions: () => source.positions(),
    stop: async (deadline) => {
      unwatch();
      const report = await source.stop(deadline);
      batches.stop();
      return report;
    },
  };
}

/**
 * Codes by which a server refuses a document for what it is: too large (10334, 17419, 17420), an index key too long
 * (17280), not BSON (22), a member's name (52, 56, 57), a rule of the collection (121). Other codes, such as
 * BadValue, may concern the statement or the server, so they are tried again.
 */
const REFUSED: ReadonlySet<unknown> = new Set([10_334, 17_419, 17_420, 17_280, 22, 52, 56, 57, 121]);
/** The driver's message. Its other invalid arguments are bugs of ours. */
const TOO_LARGE = /^Document is larger than the maximum size/;

/**
 * Whether the database refused a document for what it is, so that another try is useless. Looks at the error and its
 * causes.
 */
export function isRefusal(error: unknown): boolean {
  const { code, cause, writeErrors } = Object(error) as Partial<mongo.MongoBulkWriteError>;
  // The driver encodes a document before it sends it, and fails there for what is not BSON or too large.
  if (error instanceof mongo.BSON.BSONError || code === 'ERR_OUT_OF_RANGE') return true;
  if (error instanceof mongo.MongoInvalidArgumentError && TOO_LARGE.test(error.message)) return true;
  const faults = error instanceof mongo.MongoServerError ? [error, writeErrors].flat() : [];
  if (faults.some((fault) => REFUSED.has(fault?.code))) return true;
  return cause !== undefined && isRefusal(cause);
}

/** Reports a record that was skipped, whole or in part, with one of a few reasons. The record stays in its topic. */
export type PassedOver = (record: KafkaRecord, reason: string) => void;

/**
 * A projection that one record cannot stop. A batch that the database refuses is halved until the record is alone; it
 * is reported and skipped. Other faults are tried again.
 */
export function passOverRefused(projection: Projection, report: PassedOver): Projection {
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
      // One half after the other, which keeps the order of a partition.
      const half = Math.ceil(records.length / 2);
      await apply(records.slice(0, half));
      await apply(records.slice(half));
    }
  };
  return { ...projection, apply };
}
