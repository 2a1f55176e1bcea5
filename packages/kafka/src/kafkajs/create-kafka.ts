import type { Admin } from 'kafkajs';
import createAdmin from 'kafkajs/src/admin/index.js';
import { noLog, type Logger, BROKER, Link, type KafkaOptions } from './link.js';
import { tameKafkajs } from './tame-kafkajs.js';

/**
 * A cluster to talk to. Opening connections is left to what is opened on it. `close` ends the shared admin connection,
 * and each source that nobody has stopped, also one that is still being opened: it leaves its group.
 */
export interface Kafka {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly format: string;
  readonly log: Logger;
  close(): Promise<void>;
}

const ADMIN_METADATA_MS = 5_000;

class KafkajsKafka implements Kafka {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly format: string;
  readonly log: Logger;
  readonly openLink: (metadataMaxAgeMs: number) => Link;
  readonly adminLink: Link;
  readonly closers = new Set<() => Promise<unknown>>();
  closed = false;

  constructor(options: KafkaOptions) {
    const { brokers, clientId, format = '', log = noLog } = options;
    this.brokers = [...brokers];
    this.clientId = clientId;
    this.format = format;
    this.log = log;
    this.openLink = (metadataMaxAgeMs) => new Link({ ...options, log }, metadataMaxAgeMs);
    this.adminLink = this.openLink(ADMIN_METADATA_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.closers].map((end) => end()));
    await this.adminLink.close();
  }
}

/** Connects nothing. Throws when the list of brokers is empty or malformed, or when kafkajs is not the version we know. */
export function createKafka(options: KafkaOptions): Kafka {
  tameKafkajs();
  const { brokers } = options;
  const malformed = brokers.filter((broker) => !BROKER.test(broker));
  if (brokers.length === 0 || malformed.length > 0) {
    throw new Error(`brokers: expected a list of host:port, came ${JSON.stringify(brokers)}`);
  }
  return new KafkajsKafka(options);
}

function insideOf(kafka: Kafka): KafkajsKafka {
  if (kafka instanceof KafkajsKafka) return kafka;
  throw new Error('expected what createKafka returned');
}

/** Connections of one's own; see `Link`. */
export const openLinkOf = (kafka: Kafka, metadataMaxAgeMs: number): Link =>
  insideOf(kafka).openLink(metadataMaxAgeMs);

/**
 * Registers what is to be ended with the cluster, at the latest; call what it returns when that has ended. Throws when the
 * cluster is closed: a process that ends must not join a group any more.
 */
export function endWith(kafka: Kafka, end: () => Promise<unknown>): () => void {
  const { closers, closed } = insideOf(kafka);
  if (closed) throw new Error('the cluster is closed');
  closers.add(end);
  return () => void closers.delete(end);
}

/** The connections that all administrative calls share. */
export const adminLinkOf = (kafka: Kafka): Link => insideOf(kafka).adminLink;

/** kafkajs' admin client on those. Nothing is tried again by itself. */
export function adminOf(kafka: Kafka): Admin {
  const { cluster, logger } = adminLinkOf(kafka);
  return createAdmin({ cluster, logger, retry: { retries: 0 } });
}
