import type { TopicPartition } from '../record.js';
import { ByteReader, ByteWriter } from './bytes.js';

/** A request of an API of Kafka's protocol with its response, in the form that kafkajs' connections send. */
function apiRequest<Response>(
  api: { readonly apiKey: number; readonly apiVersion: number; readonly apiName: string },
  encode: () => Buffer,
  decode: (payload: Buffer) => Response,
) {
  return {
    request: {
      ...api,
      encode: () => {
        const buffer = encode();
        return Promise.resolve({ buf: buffer, buffer });
      },
    },
    response: {
      decode: (payload: Buffer) => Promise.resolve(decode(payload)),
      parse: (response: Response) => Promise.resolve(response),
    },
    logResponseError: false,
  };
}

// Fetch version 11 (Kafka 2.3 and newer, 4.x included): the newest without flexible headers.
const FETCH = { apiKey: 1, apiVersion: 11, apiName: 'Fetch' };
/** Fetches and counts up to the high watermark, whatever becomes of open transactions. */
export const READ_UNCOMMITTED = 0;
/** Fetches and counts up to the last stable offset: records of open or aborted transactions are never delivered. */
export const READ_COMMITTED = 1;
const CONSUMER = -1;
const NO_SESSION = 0;
const UNKNOWN = -1;

export interface FetchTarget extends TopicPartition {
  readonly offset: number;
  readonly maxBytes: number;
}

interface FetchLimits {
  readonly maxWaitMs: number;
  readonly maxBytes: number;
  readonly isolationLevel: number;
}

/** A transaction that was rolled back: its producer's records from `firstOffset` to the abort marker do not count. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

export interface FetchedPartition extends TopicPartition {
  readonly errorCode: number;
  readonly highWatermark: number;
  /** The offset of the log's first record. */
  readonly logStart: number;
  readonly aborted: readonly AbortedTransaction[];
  /** Record batches as they lie in the log; the last one may be cut. */
  readonly records: Buffer;
}

function encodeFetch(targets: readonly FetchTarget[], limits: FetchLimits): Buffer {
  const size = targets.reduce(
    (bytes, { topic }) => bytes + 2 + Buffer.byteLength(topic) + 4 + (4 + 4 + 8 + 8 + 4),
    4 * 4 + 1 + 4 * 2 + 4 + 4 + 2,
  );
  const out = new ByteWriter(size);
  out.int32(CONSUMER).int32(limits.maxWaitMs).int32(1).int32(limits.maxBytes);
  out.int8(limits.isolationLevel).int32(NO_SESSION).int32(UNKNOWN).int32(targets.length);
  // Each partition has a topic entry of its own: the broker takes them as they come.
  for (const { topic, partition, offset, maxBytes } of targets) {
    out.string(topic).int32(1);
    out.int32(partition).int32(UNKNOWN).int64(offset).int64(UNKNOWN).int32(maxBytes);
  }
  return out.int32(0).string('').buffer;
}

function decodePartition(reader: ByteReader, topic: string): FetchedPartition {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = reader.int64();
  reader.int64(); // last stable offset
  const logStart = reader.int64();
  const aborted = reader.array(() => ({ producerId: reader.int64(), firstOffset: reader.int64() }));
  reader.int32(); // preferred read replica
  return { topic, partition, errorCode, highWatermark, logStart, aborted, records: reader.bytes() };
}

function decodeFetched(payload: Buffer) {
  const reader = new ByteReader(payload);
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  reader.int32(); // session id
  const topics = reader.array(() => {
    const topic = reader.string();
    return reader.array(() => decodePartition(reader, topic));
  });
  return { clientSideThrottleTime, errorCode, partitions: topics.flat() };
}

/** Decodes nothing but the frame: an error or a damaged batch of one partition stays with that partition. */
export const fetchRequest = (targets: readonly FetchTarget[], limits: FetchLimits) =>
  apiRequest(FETCH, () => encodeFetch(targets, limits), decodeFetched);

// Produce version 7 (Kafka 2.1 and newer, 4.x included): the newest without flexible headers that kafkajs knows.
const PRODUCE = { apiKey: 0, apiVersion: 7, apiName: 'Produce' };
const NO_TRANSACTION = -1;
const ALL_IN_SYNC_REPLICAS = -1;
const REPLICATION_TIMEOUT_MS = 10_000;

interface ProducedBatch extends TopicPartition {
  readonly batch: Buffer;
}

interface PartitionAck extends TopicPartition {
  readonly errorCode: number;
}

export interface ProduceResponse {
  readonly clientSideThrottleTime: number;
  readonly acks: readonly PartitionAck[];
}

function encodeProduce(batches: readonly ProducedBatch[]): Buffer {
  const size = batches.reduce(
    (bytes, { topic, batch }) => bytes + 2 + Buffer.byteLength(topic) + 4 + 4 + 4 + batch.length,
    2 + 2 + 4 + 4,
  );
  const out = new ByteWriter(size);
  out.int16(NO_TRANSACTION).int16(ALL_IN_SYNC_REPLICAS).int32(REPLICATION_TIMEOUT_MS).int32(batches.length);
  // Each batch has a topic entry of its own: the broker takes them as they come.
  for (const { topic, partition, batch } of batches) {
    out.string(topic).int32(1).int32(partition).int32(batch.length).bytes(batch);
  }
  return out.buffer;
}

function decodeAck(reader: ByteReader, topic: string): PartitionAck {
  const partition = reader.int32();
  const errorCode = reader.int16();
  reader.at += 8 + 8 + 8; // base offset, log append time, log start offset
  return { topic, partition, errorCode };
}

function decodeAcks(payload: Buffer): ProduceResponse {
  const reader = new ByteReader(payload);
  const topics = reader.array(() => {
    const topic = reader.string();
    return reader.array(() => decodeAck(reader, topic));
  });
  return { acks: topics.flat(), clientSideThrottleTime: reader.int32() };
}

/** acks=all. The response is given for each partition: kafkajs' own parser throws all of it away at the first error. */
export const produceRequest = (batches: readonly ProducedBatch[]) =>
  apiRequest(PRODUCE, () => encodeProduce(batches), decodeAcks);
