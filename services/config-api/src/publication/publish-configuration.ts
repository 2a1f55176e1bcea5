import { COMPLETE_KEY, TOPICS, configurationKey } from '@webhooks/contracts';
import type { Sink } from '@webhooks/kafka';
import { createLogThrottle, errorFields } from '@webhooks/runtime';
import type { Counter, Logger } from '@webhooks/runtime';
import { LRUCache } from 'lru-cache';
import { toRecord } from '../webhooks/configuration.js';
import type { Configuration } from '../webhooks/configuration.js';
import { REMEMBERED } from '../store/database.js';

/** True once Kafka acknowledged this revision with `acks=all`, false when it did not in time. Never throws. */
export type PublishConfiguration = (configuration: Configuration) => Promise<boolean>;

export interface PublisherOptions {
  readonly sink: Sink;
  /** Told of each revision that Kafka has. */
  readonly note: (configuration: Configuration) => void;
  readonly log: Logger;
  readonly published: Counter<'result'>;
}

/** For Kafka's acknowledgement, of the 5 s within which a caller has an answer. */
export const PUBLISH_MS = 2_000;

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
