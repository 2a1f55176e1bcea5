import { COMPLETE_KEY, configurationKey, TOPICS } from '@webhooks/contracts';
import type { Sink } from '@webhooks/kafka';
import { createLogThrottle, errorFields, repeat } from '@webhooks/runtime';
import type { Counter, Logger, Repetition } from '@webhooks/runtime';
import { LRUCache } from 'lru-cache';
import { PAGE } from '../store/configuration-store.js';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { REMEMBERED } from '../store/database.js';
import { toRecord } from '../webhooks/configuration.js';
import type { Configuration } from '../webhooks/configuration.js';

/** True once Kafka acknowledged this revision with `acks=all`, false when it did not in time. Never throws. */
export type PublishConfiguration = (configuration: Configuration) => Promise<boolean>;

interface PublisherOptions {
  readonly sink: Sink;
  /** Told of each revision that Kafka has. */
  readonly note: (configuration: Configuration) => void;
  readonly log: Logger;
  readonly published: Counter<'result'>;
}

/** For Kafka's acknowledgement, of the 5 s within which a caller has an answer. */
const PUBLISH_MS = 2_000;

const keyOf = ({ tenantId, ref }: Configuration): string => configurationKey(tenantId, ref);

/** With its time: after a restored backup another revision has a number that was published before. */
const versionOf = ({ revision, updatedAt }: Configuration): string => `${revision}@${updatedAt.getTime()}`;

/** Publishes to `webhooks.configurations`, keyed by tenant and ref. */
function createSend({ sink, log, published }: PublisherOptions): PublishConfiguration {
  const throttle = createLogThrottle();
  return async (configuration) => {
    const value = JSON.stringify(toRecord(configuration));
    try {
      await sink.send(
        { topic: TOPICS.configurations, key: keyOf(configuration), value },
        { deadlineMs: PUBLISH_MS },
      );
      published.inc({ result: 'acknowledged' });
      return true;
    } catch (error) {
      const { ref, revision } = configuration;
      published.inc({ result: 'failed' });
      throttle((count) => {
        const fields = { count, ref, revision, ...errorFields(error) };
        log.warn('configurations were not acknowledged by Kafka', fields);
      });
      return false;
    }
  };
}

export type Publisher = ReturnType<typeof createPublisher>;

export function createPublisher(options: PublisherOptions) {
  const send = createSend(options);
  const acknowledged = new LRUCache<string, string>(REMEMBERED);
  /** Publications on their way, so that many callers who ask for one revision at once cost one record. */
  const running = new Map<string, Promise<boolean>>();

  /** Publishes a revision whatever is known: the topic turned out to say something else. */
  const republish: PublishConfiguration = async (configuration) => {
    if (!(await send(configuration))) return false;
    acknowledged.set(keyOf(configuration), versionOf(configuration));
    options.note(configuration);
    return true;
  };

  /** Publishes a revision unless Kafka is known to have it. */
  const publish: PublishConfiguration = (configuration) => {
    const { publishedRevision, revision } = configuration;
    if (publishedRevision >= revision) return Promise.resolve(true);
    const key = keyOf(configuration);
    const version = versionOf(configuration);
    if (acknowledged.get(key) === version) {
      options.note(configuration);
      return Promise.resolve(true);
    }
    const name = `${key}@${version}`;
    const known = running.get(name);
    if (known) return known;
    const sending = republish(configuration).finally(() => running.delete(name));
    running.set(name, sending);
    return sending;
  };
  /** `positions`: how far each partition was read. Rejects when Kafka does not acknowledge it in time. */
  const markComplete = (positions: readonly number[]): Promise<void> => {
    const value = JSON.stringify(positions);
    const record = { topic: TOPICS.configurations, key: COMPLETE_KEY, value };
    return options.sink.send(record, { deadlineMs: PUBLISH_MS });
  };
  return { publish, republish, markComplete };
}

const EVERY_MS = 200;
/** A note beyond this is lost, which costs one more publication by the sweep. */
const MAX_WAITING = 10_000;

/**
 * Writes down, a few times a second and together, which revisions Kafka has. Nobody waits for it: the note only spares the
 * sweep a publication.
 */
export function keepPublicationNotes({
  markPublished,
  log,
}: Pick<Repetition, 'log'> & Pick<ConfigurationStore, 'markPublished'>) {
  let waiting: Configuration[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting.slice(0, PAGE);
    if (batch.length === 0) return;
    await markPublished(batch);
    waiting = waiting.slice(batch.length);
  };
  const flushing = repeat({ name: 'noting what Kafka has', everyMs: EVERY_MS, log, work: flush });
  return {
    note: (configuration: Configuration): void => {
      if (waiting.length < MAX_WAITING) waiting.push(configuration);
    },
    /** Writes what is noted, once more, and ends. */
    close: async (): Promise<void> => {
      await flushing.stop();
      await flush().catch(() => undefined);
    },
  };
}

interface SweepPorts extends Pick<ConfigurationStore, 'unpublished' | 'confirm'> {
  readonly publish: PublishConfiguration;
  readonly now: () => Date;
}

/** Publishes what was changed and never acknowledged: Kafka was away, or a process ended in between. Resolves with how many. */
export async function sweepUnpublished(ports: SweepPorts): Promise<number> {
  // Younger changes belong to the request that waits for their acknowledgement.
  const late = await ports.unpublished(new Date(ports.now().getTime() - PUBLISH_MS), PAGE);
  // Only what a majority has may be published, or a failover would leave Kafka ahead of the database.
  const results = await Promise.all(
    late.map(async (one) => (await ports.confirm(one)) && ports.publish(one)),
  );
  return results.filter(Boolean).length;
}
