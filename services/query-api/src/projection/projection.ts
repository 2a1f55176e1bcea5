import { openSource } from '@webhooks/kafka';
import type { Kafka, KafkaRecord, Source } from '@webhooks/kafka';
import { watchSource } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { mongo } from 'mongoose';
import { Batches } from './batches.js';

/** What is made of a topic: applied again and again, in any order of partitions, it comes to the same documents. */
export interface Projection {
  /** Part of the consumer group's name and of the metrics. */
  readonly name: string;
  readonly topics: readonly string[];
  /** Bytes of records that are written together, at most, or one larger record; default: all that wait. */
  readonly maxBytes?: number;
  /** Time from the begin of one batch to that of the next, at least, unless a full one waits; default 0. */
  readonly intervalMs?: number;
  /** Whether an instance that does not read a partition waits for it: then how far it is written is told in the database. */
  readonly publishesPositions?: boolean;
  /** Writes what the records tell. Must be idempotent: after a rejection it is called again with the same records. */
  readonly apply: (records: readonly KafkaRecord[]) => Promise<void>;
}

export type RunningProjection = Pick<Source, 'health' | 'positions' | 'stop'>;

/** Records read and not yet written: what a flood fills while the database is slow. */
const WINDOW = { maxInFlight: 4_000, maxInFlightBytes: 32 * 1_048_576 };

/** Reads the topics of a projection as a member of this group and writes what they tell, until it is stopped. */
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
 * Codes by which a server refuses a document for what it is, now and ever: too large (10334, 17419, 17420), a key of an
 * index too long (17280), not BSON (22), a member's name (52, 56, 57), a rule of the collection (121). Others, such as
 * BadValue, may tell of a statement or of the server: what is tried again is never lost.
 */
const REFUSED: ReadonlySet<unknown> = new Set([10_334, 17_419, 17_420, 17_280, 22, 52, 56, 57, 121]);
/** The driver's own words for it; its other invalid arguments are faults of a program. */
const TOO_LARGE = /^Document is larger than the maximum size/;

/** Whether the database refused a document for what it is, so that trying again changes nothing: an error or its cause. */
export function isRefusal(error: unknown): boolean {
  const { code, cause, writeErrors } = Object(error) as Partial<mongo.MongoBulkWriteError>;
  // The driver encodes a document before it sends it: what is no BSON, too large or longer than its buffer, ends there.
  if (error instanceof mongo.BSON.BSONError || code === 'ERR_OUT_OF_RANGE') return true;
  if (error instanceof mongo.MongoInvalidArgumentError && TOO_LARGE.test(error.message)) return true;
  const faults = error instanceof mongo.MongoServerError ? [error, writeErrors].flat() : [];
  if (faults.some((fault) => REFUSED.has(fault?.code))) return true;
  return cause !== undefined && isRefusal(cause);
}

/** Reports a record that was passed over, whole or in part, by one of few words. The record stays in its topic as long as that keeps it. */
export type PassedOver = (record: KafkaRecord, reason: string) => void;

/**
 * A projection that one record cannot stop: a batch that the database refuses is halved until the record is alone, which is
 * reported and passed over, and all others are written. What fails for another reason is tried again as it is.
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
      // Halves in turn: those of one partition are written in its order.
      const half = Math.ceil(records.length / 2);
      await apply(records.slice(0, half));
      await apply(records.slice(half));
    }
  };
  return { ...projection, apply };
}
