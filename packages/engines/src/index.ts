export { lastLines } from './command.js';
export { freePort } from './free-port.js';
export { startKafka } from './kafka/start-kafka.js';
export { startKafkaCluster } from './kafka/embedded-cluster.js';
export type { ClusterNode, KafkaCluster, KafkaClusterOptions } from './kafka/embedded-cluster.js';
export type { Detour } from './kafka/broker-properties.js';
export { useKafkaAddress } from './kafka/kafka-address.js';
export type { KafkaEngine, KafkaOptions } from './kafka/kafka-engine.js';
export { startMongo } from './mongo/start-mongo.js';
export type { MongoEngine, MongoOptions } from './mongo/mongo-engine.js';
export { startIssuer } from './issuer/start-issuer.js';
export type { DevelopmentClient, Issuer, IssuerOptions } from './issuer/start-issuer.js';
export { makeAuthority, makeLeaf } from './certificates/make-certificate.js';
export { openCertificateAuthority } from './certificates/open-certificate-authority.js';
export type {
  CertificateAuthority,
  IssuedCertificate,
  IssueOptions,
} from './certificates/open-certificate-authority.js';
export { testKafkaBrokers, testMongoUri } from './test-engines.js';
export type { EngineKind } from './engine-kind.js';
export type { Log } from './log.js';
