import type { Admin } from 'kafkajs';
import createAdmin from 'kafkajs/src/admin/index.js';
import { toIdentity } from './credentials.js';
import { Connections, type KafkaOptions } from './connections.js';
import type { Logger } from '../logger.js';
import { patchKafkajs } from './patch-kafkajs.js';
import { TABLE_METADATA_MS } from '../limits.js';

/** A Kafka cluster. Each sink, source and table reader opens its own connections to it. */
export class Kafka {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly format: string;
  readonly log: Logger;
  /** Creates a set of connections for one reader or sink of this package; see `Connections`. */
  readonly openConnections: (metadataMaxAgeMs: number) => Connections;
  /** The connections that all administrative calls share. */
  readonly adminConnections: Connections;
  readonly #closers = new Set<() => Promise<unknown>>();
  #closed = false;

  constructor(options: KafkaOptions) {
    this.brokers = options.brokers;
    this.clientId = options.clientId;
    this.format = options.format ?? '';
    const identity = toIdentity(options, options.log);
    this.openConnections = (metadataMaxAgeMs) => new Connections(options, identity, metadataMaxAgeMs);
    this.adminConnections = this.openConnections(TABLE_METADATA_MS);
    this.log = this.adminConnections.log;
  }

  /** Creates kafkajs' admin client on the shared connections. The client does not retry. */
  admin(): Admin {
    const { cluster, logger } = this.adminConnections;
    return createAdmin({ cluster, logger, retry: { retries: 0 } });
  }

  /**
   * Registers `end`, which `close` calls. Returns a function that removes it; call that when `end` is done. Throws
   * when the cluster is closed: a process that is ending must not join a group.
   */
  onClose(end: () => Promise<unknown>): () => void {
    if (this.#closed) throw new Error('the cluster is closed');
    this.#closers.add(end);
    return () => void this.#closers.delete(end);
  }

  /** Stops each source that is still open or being opened, so that it leaves its group. Then disconnects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#closers].map((end) => end()));
    await this.adminConnections.close();
  }
}

/**
 * Creates the cluster object without connecting. Throws when another kafkajs version is installed than this package
 * requires.
 */
export function createKafka(options: KafkaOptions): Kafka {
  patchKafkajs();
  return new Kafka(options);
}
