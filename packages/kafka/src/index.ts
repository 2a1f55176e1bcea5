export { connectKafka, prepareTopics } from './connect-kafka.js';
export { createKafka, type Kafka } from './kafkajs-adapter/create-kafka.js';
export { readKafkaSettings, type KafkaSettings } from './kafka-settings.js';
export type { Logger, LogLevel } from './log.js';
export { PENDING_RECORD_BYTES } from './pending-record.js';
export type { KafkaRecord } from './record.js';
export { RevisionTable } from './revision-table.js';
export type { Revised } from './revision-table.js';
export { openSink } from './sink.js';
export type { Sink } from './sink.js';
export { RecordRefused, SinkClosed, SinkOverloaded, SinkTimeout } from './sink-types.js';
export type { OutgoingRecord } from './sink-types.js';
export { openDelayedSource, openSource } from './source.js';
export type {
  DelayedSourceOptions,
  OnPoison,
  PartitionPosition,
  Source,
  SourceHealth,
  SourceOptions,
  Unhandled,
} from './source-types.js';
export { TableReader, openTableReader } from './table-reader.js';
export { headerOf } from './protocol/fetched-record.js';
export { watchRetention } from './kafkajs-adapter/watch-retention.js';
export { ensureTopics, fetchEndOffsets } from './kafkajs-adapter/topics.js';
export type { EndOffsets } from './kafkajs-adapter/topics.js';
