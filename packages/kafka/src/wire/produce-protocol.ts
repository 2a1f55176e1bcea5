import type { TopicPartition } from '../record.js';
import { apiRequest } from './api-request.js';
import { ByteReader, ByteWriter } from './bytes.js';

// Produce version 7 (Kafka 2.1 and newer, 4.x included): the newest without flexible headers that kafkajs knows.
const PRODUCE = { apiKey: 0, apiVersion: 7, apiName: 'Produce' };
const NO_TRANSACTION = -1;
const ALL_IN_SYNC_REPLICAS = -1;
const REPLICATION_TIMEOUT_MS = 10_000;

export interface ProducedBatch extends TopicPartition {
  readonly batch: Buffer;
}

interface PartitionAck extends TopicPartition {
  readonly errorCode: number;
}

export interface ProduceResponse {
  readonly clientSideThrottleTime: number;
  readonly acks: readonly PartitionAck[];
}

function encode(batches: readonly ProducedBatch[]): Buffer {
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

function decode(payload: Buffer): ProduceResponse {
  const reader = new ByteReader(payload);
  const topics = reader.array(() => {
    const topic = reader.string();
    return reader.array(() => decodeAck(reader, topic));
  });
  return { acks: topics.flat(), clientSideThrottleTime: reader.int32() };
}

/** acks=all. The response is given for each partition: kafkajs' own parser throws all of it away at the first error. */
export const produceRequest = (batches: readonly ProducedBatch[]) =>
  apiRequest(PRODUCE, () => encode(batches), decode);
