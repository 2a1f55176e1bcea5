export { connectKafka, prepareTopics } from './connect-kafka.js';
export { createKafka } from './kafkajs-adapter/create-kafka.js';
export type { Kafka } from './kafkajs-adapter/create-kafka.js';
export type { KafkaOptions, KafkaSasl, KafkaTls } from './kafkajs-adapter/connect.js';
export { readKafkaSettings } from './kafka-settings.js';
export type { KafkaSettings } from './kafka-settings.js';
export type { Logger, LogLevel } from './log.js';
export { PENDING_RECORD_BYTES } from './pending-record.js';
export type { KafkaRecord, RecordHeaders, TopicPartition } from './record.js';
export { RevisionTable } from './revision-table.js';
export type { Revised } from './revision-table.js';
export { openSink } from './sink.js';
export { RecordRefused, SinkClosed, SinkOverloaded, SinkTimeout } from './sink-types.js';
export type { OutgoingRecord, SendOptions, Sink, SinkOptions } from './sink-types.js';
export { openDelayedSource, openSource } from './source.js';
export type {
  DelayTier,
  DelayedSource,
  DelayedSourceHealth,
  DelayedSourceOptions,
  OnPoison,
  PartitionPosition,
  Source,
  SourceHealth,
  SourceOptions,
  StopReport,
  Unhandled,
  Window,
} from './source-types.js';
export { TableReader, openTableReader } from './table-reader.js';
export type { TableReaderOptions } from './table-reader.js';
export { headerOf } from './protocol/fetched-record.js';
export { watchRetention } from './watch-retention.js';
export type { RetentionOptions } from './watch-retention.js';
export { ensureTopics, fetchEndOffsets } from './kafkajs-adapter/topics.js';
export type { EndOffsets, TopicSpec } from './kafkajs-adapter/topics.js';
