import type { Admin } from 'kafkajs';
import createAdmin from 'kafkajs/src/admin/index.js';
import type { KafkaOptions } from '../kafka-options.js';
import { silent, type Logger } from '../log.js';
import { openLink, type Link } from './connect.js';
import { tameKafkajs } from './tame-kafkajs.js';

/**
 * A cluster to talk to. Opening connections is left to what is opened on it. `close` ends the shared admin connection,
 * and each source that nobody has stopped, also one that is still being opened: it leaves its group.
 */
export interface Kafka {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Logger;
  close(): Promise<void>;
}

const ADMIN_METADATA_MS = 5_000;

interface Inside {
  readonly openLink: (metadataMaxAgeMs: number) => Link;
  admin: Link | undefined;
  /** Ends what is open. */
  readonly ends: Set<() => Promise<unknown>>;
  closed: boolean;
}

const insides = new WeakMap<Kafka, Inside>();

/** Connects nothing. Throws when the list of brokers is empty or malformed, or when kafkajs is not the version we know. */
export function createKafka(options: KafkaOptions): Kafka {
  tameKafkajs();
  const { brokers, clientId, log = silent } = options;
  const malformed = brokers.filter((broker) => !/^[^:]+:\d+$/.test(broker));
  if (brokers.length === 0 || malformed.length > 0) {
    throw new Error(`brokers: expected a list of host:port, came ${JSON.stringify(brokers)}`);
  }
  const inside: Inside = {
    openLink: (metadataMaxAgeMs) => openLink({ ...options, log }, metadataMaxAgeMs),
    admin: undefined,
    ends: new Set(),
    closed: false,
  };
  const kafka: Kafka = {
    brokers: [...brokers],
    clientId,
    log,
    close: async () => {
      inside.closed = true;
      await Promise.all([...inside.ends].map((end) => end()));
      const { admin } = inside;
      inside.admin = undefined;
      await admin?.close();
    },
  };
  insides.set(kafka, inside);
  return kafka;
}

function insideOf(kafka: Kafka): Inside {
  const inside = insides.get(kafka);
  if (inside === undefined) throw new Error('expected what createKafka returned');
  return inside;
}

/** Connections of one's own; see `Link`. */
export function openLinkOf(kafka: Kafka, metadataMaxAgeMs: number): Link {
  return insideOf(kafka).openLink(metadataMaxAgeMs);
}

/**
 * Registers what is to be ended with the cluster, at the latest; call what it returns when that has ended. Throws when the
 * cluster is closed: a process that ends must not join a group any more.
 */
export function endWith(kafka: Kafka, end: () => Promise<unknown>): () => void {
  const { ends, closed } = insideOf(kafka);
  if (closed) throw new Error('the cluster is closed');
  ends.add(end);
  return () => void ends.delete(end);
}

/** The connections that all administrative calls share. */
export function adminLinkOf(kafka: Kafka): Link {
  const inside = insideOf(kafka);
  inside.admin ??= inside.openLink(ADMIN_METADATA_MS);
  return inside.admin;
}

/** kafkajs' admin client on those. Nothing is tried again by itself. */
export function adminOf(kafka: Kafka): Admin {
  const { cluster, logger } = adminLinkOf(kafka);
  return createAdmin({ cluster, logger, retry: { retries: 0 } });
}
