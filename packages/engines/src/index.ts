export { freePort } from './free-port.js';
export { startKafka } from './kafka/start-kafka.js';
export type { KafkaEngine, KafkaOptions } from './kafka/kafka-engine.js';
export { startMongo } from './mongo/start-mongo.js';
export type { MongoEngine, MongoOptions } from './mongo/mongo-engine.js';
export { testKafkaBrokers, testMongoUri } from './test-engines.js';
export type { EngineKind } from './engine-kind.js';
export type { Log } from './log.js';
