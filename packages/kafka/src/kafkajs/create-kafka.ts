import type { Admin } from 'kafkajs';
import createAdmin from 'kafkajs/src/admin/index.js';
import { type Logger, Link, type KafkaOptions } from './link.js';
import { tameKafkajs } from './tame-kafkajs.js';
import { TABLE_METADATA_MS } from '../limits.js';

/** A cluster to talk to. Sinks, sources and table readers open connections of their own on it. */
export class Kafka {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly format: string;
  readonly log: Logger;
  /** Opens connections for one reader or sink of this package; see `Link`. */
  readonly openLink: (metadataMaxAgeMs: number) => Link;
  /** The connections that all administrative calls share. */
  readonly adminLink: Link;
  readonly #closers = new Set<() => Promise<unknown>>();
  #closed = false;

  constructor(options: KafkaOptions) {
    this.brokers = options.brokers;
    this.clientId = options.clientId;
    this.format = options.format ?? '';
    this.openLink = (metadataMaxAgeMs) => new Link(options, metadataMaxAgeMs);
    this.adminLink = this.openLink(TABLE_METADATA_MS);
    this.log = this.adminLink.log;
  }

  /** kafkajs' admin client on the shared connections. It tries nothing again by itself. */
  admin(): Admin {
    const { cluster, logger } = this.adminLink;
    return createAdmin({ cluster, logger, retry: { retries: 0 } });
  }

  /**
   * Registers what ends with the cluster, at the latest; call what it returns when that has ended. Throws when the cluster is closed: a
   * process that ends must not join a group any more.
   */
  endWith(end: () => Promise<unknown>): () => void {
    if (this.#closed) throw new Error('the cluster is closed');
    this.#closers.add(end);
    return () => void this.#closers.delete(end);
  }

  /** Stops each source that nobody has stopped, even one that is being opened, so that it leaves its group. Then disconnects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#closers].map((end) => end()));
    await this.adminLink.close();
  }
}

/** Connects nothing. Throws when kafkajs has another version than the one that this package is written for. */
export function createKafka(options: KafkaOptions): Kafka {
  tameKafkajs();
  return new Kafka(options);
}
