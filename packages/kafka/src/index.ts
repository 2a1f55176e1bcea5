export { connectKafka, prepareTopics } from './connect-kafka.js';
export { createKafka, type Kafka } from './kafkajs/create-kafka.js';
export { readKafkaSettings, type KafkaSettings } from './kafka-settings.js';
export type { Logger, LogLevel } from './log.js';
export { PENDING_RECORD_BYTES } from './sink/pending-record.js';
export type { KafkaRecord } from './record.js';
export { openSink } from './sink/sink.js';
export type { Sink } from './sink/sink.js';
export { RecordRefused, SinkClosed, SinkOverloaded, SinkTimeout } from './sink/sink-types.js';
export type { OutgoingRecord } from './sink/sink-types.js';
export { openDelayedSource, openSource } from './source/source.js';
export type {
  DelayedSourceOptions,
  OnPoison,
  PartitionPosition,
  Source,
  SourceHealth,
  SourceOptions,
  Unhandled,
} from './source/source-types.js';
export { TableReader, openTableReader } from './table/table-reader.js';
export { headerOf } from './wire/fetched-record.js';
export { watchRetention } from './source/watch-retention.js';
export { ensureTopics, fetchEndOffsets } from './kafkajs/topics.js';
export type { EndOffsets } from './kafkajs/topics.js';
