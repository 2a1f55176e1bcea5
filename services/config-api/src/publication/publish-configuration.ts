import { COMPLETE_KEY, TOPICS } from '@webhooks/contracts';
import type { Sink } from '@webhooks/kafka';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Counter, Logger } from '@webhooks/runtime';
import type { ConfigurationStore } from '../store/configuration-store.js';
import { idOf, toRecord } from '../webhooks/configuration.js';
import type { Configuration } from '../webhooks/configuration.js';

/**
 * Publishes a revision. Resolves with true when Kafka has acknowledged it (`acks=all`), and with false when it did not
 * within 2 s. Never throws.
 */
export type PublishConfiguration = (configuration: Configuration) => Promise<boolean>;

interface PublisherOptions {
  readonly sink: Sink;
  readonly markPublished: ConfigurationStore['markPublished'];
  readonly log: Logger;
  readonly published: Counter<'result'>;
}

/** Deadline of the acknowledgement. With the 4 s of the database, a caller gets a response within 6 s. */
const PUBLISH_MS = 2_000;

/** Identifies a revision. Includes the time: after a restored backup, a published number can occur again. */
const versionOf = (configuration: Configuration): string =>
  [idOf(configuration), configuration.revision, configuration.updatedAt.getTime()].join('@');

/** Creates a function that publishes to `webhooks.configurations`, keyed by tenant and ref. */
function createSend({ sink, log, published }: PublisherOptions): PublishConfiguration {
  const throttle = createLogThrottle();
  return async (configuration) => {
    const value = JSON.stringify(toRecord(configuration));
    try {
      await sink.send(
        { topic: TOPICS.configurations, key: idOf(configuration), value },
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

/** Creates the publisher of configurations and of the mark `/complete`. */
export function createPublisher(options: PublisherOptions) {
  const send = createSend(options);
  const throttle = createLogThrottle();
  /** Publications under way. Concurrent requests for the same revision share one record. */
  const running = new Map<string, Promise<boolean>>();

  /** Publishes a revision even if Kafka has acknowledged it before. Used when the topic's record differs from the database. */
  const republish: PublishConfiguration = async (configuration) => {
    if (!(await send(configuration))) return false;
    // Nobody waits for it. Without it, the sweep publishes the revision again.
    options.markPublished(configuration).catch((error: unknown) => {
      const fields = errorFields(error);
      throttle((count) => options.log.warn('published changes could not be marked', { count, ...fields }));
    });
    return true;
  };

  /** Publishes a revision, unless the database says that Kafka has acknowledged it. */
  const publish: PublishConfiguration = (configuration) => {
    const { publishedRevision, revision } = configuration;
    if (publishedRevision >= revision) return Promise.resolve(true);
    const name = versionOf(configuration);
    const sending = running.get(name) ?? republish(configuration).finally(() => running.delete(name));
    running.set(name, sending);
    return sending;
  };
  /**
   * Publishes the mark `/complete`. `positions`: the offset up to which each partition was read. Rejects when Kafka
   * does not acknowledge it within 2 s.
   */
  const markComplete = (positions: readonly number[]): Promise<void> => {
    const value = JSON.stringify(positions);
    const record = { topic: TOPICS.configurations, key: COMPLETE_KEY, value };
    return options.sink.send(record, { deadlineMs: PUBLISH_MS });
  };
  return { publish, republish, markComplete };
}

interface SweepPorts extends Pick<ConfigurationStore, 'unpublished' | 'confirm'> {
  readonly publish: PublishConfiguration;
  readonly now: () => Date;
}

/**
 * Publishes changes that were never acknowledged, because Kafka was unreachable or a process ended. Resolves with the
 * numbers of published changes and of those that still wait, together at most 500.
 */
export async function sweepUnpublished(ports: SweepPorts) {
  // Younger changes belong to requests that still wait for their acknowledgement.
  const now = ports.now();
  const unacknowledged = await ports.unpublished(new Date(now.getTime() - PUBLISH_MS), now);
  // Only revisions that a majority has are published. Otherwise a failover would leave Kafka ahead of the database.
  const results = await Promise.all(
    unacknowledged.map(async (one) => (await ports.confirm(one)) && ports.publish(one)),
  );
  const published = results.filter(Boolean).length;
  return { published, waiting: results.length - published };
}
