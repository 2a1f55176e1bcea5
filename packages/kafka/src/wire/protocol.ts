import type { TopicPartition } from '../record.js';
import { ByteReader, ByteWriter } from './bytes.js';

/** A request of Kafka's protocol with its response decoder, in the form that kafkajs' connections require. */
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

/** Decodes topics with their partitions into one list of partitions. */
const readPartitions = <T>(reader: ByteReader, readPartition: (topic: string) => T): T[] =>
  reader
    .array(() => {
      const topic = reader.string();
      return reader.array(() => readPartition(topic));
    })
    .flat();

// Fetch version 11 (Kafka 2.3 and newer, 4.x included): the newest without flexible headers.
const FETCH = { apiKey: 1, apiVersion: 11, apiName: 'Fetch' };
/** Isolation level up to the high watermark: records of open transactions are delivered too. */
export const READ_UNCOMMITTED = 0;
/** Isolation level up to the last stable offset: records of open or aborted transactions are never delivered. */
export const READ_COMMITTED = 1;
const CONSUMER = -1;
const NO_SESSION = 0;
/** The epoch that ends, or does not begin, a fetch session (KIP-227). */
const FINAL_EPOCH = -1;
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

function encodeFetch(targets: readonly FetchTarget[], limits: FetchLimits): Buffer {
  const size = targets.reduce(
    (bytes, { topic }) => bytes + 2 + Buffer.byteLength(topic) + 4 + (4 + 4 + 8 + 8 + 4),
    4 * 4 + 1 + 4 * 2 + 4 + 4 + 2,
  );
  const out = new ByteWriter(size);
  out.int32(CONSUMER).int32(limits.maxWaitMs).int32(1).int32(limits.maxBytes);
  out.int8(limits.isolationLevel).int32(NO_SESSION).int32(FINAL_EPOCH).int32(targets.length);
  // Each partition has its own topic entry, which brokers accept.
  for (const { topic, partition, offset, maxBytes } of targets) {
    out.string(topic).int32(1).int32(partition).int32(UNKNOWN).int64(offset).int64(UNKNOWN).int32(maxBytes);
  }
  return out.int32(0).string('').buffer;
}

function readFetched(reader: ByteReader, topic: string) {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = reader.int64();
  reader.int64(); // last stable offset
  /** The offset of the log's first record. */
  const logStart = reader.int64();
  const aborted = reader.array(() => ({ producerId: reader.int64(), firstOffset: reader.int64() }));
  reader.int32(); // preferred read replica
  /** Record batches as stored in the log; the last one may be incomplete. */
  const records = reader.bytes();
  return { topic, partition, errorCode, highWatermark, logStart, aborted, records };
}

/** One partition of a fetch response. */
export type FetchedPartition = ReturnType<typeof readFetched>;

/** An aborted transaction. Records of its producer from `firstOffset` to the abort marker are not delivered. */
export type AbortedTransaction = FetchedPartition['aborted'][number];

function decodeFetched(payload: Buffer) {
  const reader = new ByteReader(payload);
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  reader.int32(); // session id
  const partitions = readPartitions(reader, (topic) => readFetched(reader, topic));
  return { clientSideThrottleTime, errorCode, partitions };
}

/**
 * Builds a fetch request. Its decoder does not decode batches, so an error or a corrupt batch of one partition
 * affects no other partition.
 */
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

function encodeProduce(batches: readonly ProducedBatch[]): Buffer {
  const size = batches.reduce(
    (bytes, { topic, batch }) => bytes + 2 + Buffer.byteLength(topic) + 4 + 4 + 4 + batch.length,
    2 + 2 + 4 + 4,
  );
  const out = new ByteWriter(size);
  out.int16(NO_TRANSACTION).int16(ALL_IN_SYNC_REPLICAS).int32(REPLICATION_TIMEOUT_MS).int32(batches.length);
  // Each batch has its own topic entry, which brokers accept.
  for (const { topic, partition, batch } of batches) {
    out.string(topic).int32(1).int32(partition).int32(batch.length).bytes(batch);
  }
  return out.buffer;
}

function readAck(reader: ByteReader, topic: string) {
  const partition = reader.int32();
  const errorCode = reader.int16();
  reader.at += 8 + 8 + 8; // base offset, log append time, log start offset
  return { topic, partition, errorCode };
}

function decodeAcks(payload: Buffer) {
  const reader = new ByteReader(payload);
  const acks = readPartitions(reader, (topic) => readAck(reader, topic));
  return { acks, clientSideThrottleTime: reader.int32() };
}

/**
 * Builds a produce request with acks=all. Its decoder returns an error code for each partition; kafkajs' parser
 * throws at the first error.
 */
export const produceRequest = (batches: readonly ProducedBatch[]) =>
  apiRequest(PRODUCE, () => encodeProduce(batches), decodeAcks);

// Metadata version 8 (Kafka 2.3 and newer, 4.x included): the newest without flexible headers.
const METADATA = { apiKey: 3, apiVersion: 8, apiName: 'Metadata' };

/** Decodes each topic's error code and operations: a bit for each that this identity may do (KIP-430). */
function decodeTopicAccess(payload: Buffer) {
  const reader = new ByteReader(payload);
  const skipNodes = () => reader.array(() => reader.int32());
  reader.int32(); // throttle time
  reader.array(() => [reader.int32(), reader.string(), reader.int32(), reader.string()]); // brokers
  reader.string(); // cluster id
  reader.int32(); // controller
  return reader.array(() => {
    const errorCode = reader.int16();
    const topic = reader.string();
    reader.int8(); // is internal
    reader.array(() => {
      reader.at += 2 + 4 + 4 + 4; // error, partition, leader, epoch
      return [skipNodes(), skipNodes(), skipNodes()]; // replicas, in sync, offline
    });
    return { topic, errorCode, operations: reader.int32() };
  });
}

/** Builds a request for what this identity may do with these topics. */
export function topicAccessRequest(topics: readonly string[]) {
  const encode = (): Buffer => {
    const out = new ByteWriter(topics.reduce((bytes, topic) => bytes + 2 + Buffer.byteLength(topic), 4 + 3));
    out.int32(topics.length);
    for (const topic of topics) out.string(topic);
    return out.int8(0).int8(0).int8(1).buffer; // creates no topic; operations of topics only
  };
  return apiRequest(METADATA, encode, decodeTopicAccess);
}

// DescribeGroups version 3 (Kafka 2.3 and newer, 4.x included).
const DESCRIBE_GROUPS = { apiKey: 15, apiVersion: 3, apiName: 'DescribeGroups' };

/** Builds a request for what this identity may do with a group. The response has its error code and operations. */
export function groupAccessRequest(groupId: string) {
  const encode = (): Buffer =>
    new ByteWriter(4 + 2 + Buffer.byteLength(groupId) + 1).int32(1).string(groupId).int8(1).buffer;
  // One group: its error code follows the throttle time and the number of groups, and its operations end the response.
  return apiRequest(DESCRIBE_GROUPS, encode, (payload) => ({
    errorCode: payload.readInt16BE(4 + 4),
    operations: payload.readInt32BE(payload.length - 4),
  }));
}
