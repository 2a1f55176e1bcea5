export {
  checkKafka,
  connectKafka,
  prepareTopics,
  readKafkaSettings,
  type KafkaNeeds,
  type KafkaSettings,
} from './connect-kafka.js';
export { createKafka, type Kafka } from './kafkajs/create-kafka.js';
export { operateLag } from './operate-lag.js';
export { operateTopics } from './operate-topics.js';
export type { Logger, LogLevel } from './logger.js';
export { PENDING_RECORD_BYTES, RecordRefused, type OutgoingRecord } from './sink/pending-record.js';
export type { KafkaRecord } from './record.js';
export { openSink, type Sink } from './sink/sink.js';
export { readToEnd } from './source/read-to-end.js';
export { openDelayedSource, openSource, type Source, type SourceHealth } from './source/source.js';
export type {
  Assignment,
  DelayedSourceOptions,
  OnPoison,
  PartitionPosition,
  SourceOptions,
  Unhandled,
} from './source/source-types.js';
export { TableReader, openTableReader } from './table/table-reader.js';
export { headerOf } from './wire/record-cursor.js';
export { watchRetention } from './source/watch-retention.js';
export { ensureTopics, fetchEndOffsets, type EndOffsets } from './kafkajs/topics.js';
