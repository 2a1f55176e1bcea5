import { openSource } from '@webhooks/kafka';
import type { Kafka, KafkaRecord, Source } from '@webhooks/kafka';
import { watchSource } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { mongo } from 'mongoose';
import { Batches } from './batches.js';

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

export type RunningProjection = Pick<Source, 'health' | 'positions' | 'stop'>;

/** Records that are read and not yet written; a flood fills this while the database is slow. */
const WINDOW = { maxInFlight: 4_000, maxInFlightBytes: 32 * 1_048_576 };

/** Reads the topics of a projection as a member of its group and applies their records, until it is stopped. */
export async function openProjection(
  { name, topics, maxBytes, intervalMs = 0, apply }: Projection,
  { kafka, groupId }: { readonly kafka: Kafka; readonly groupId: string },
  scope: ServiceScope,
): Promise<RunningProjection> {
  const { log } = scope;
  const batches = new Batches<KafkaRecord>({ name, apply, maxBytes, intervalMs, log });
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
