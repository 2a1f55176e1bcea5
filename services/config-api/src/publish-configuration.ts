import { TOPICS, configurationKey } from '@webhooks/contracts';
import type { Sink } from '@webhooks/kafka';
import { errorFields } from '@webhooks/runtime';
import type { Counter, Logger } from '@webhooks/runtime';
import { toRecord } from './configuration.js';
import type { Configuration } from './configuration.js';

/** True once Kafka acknowledged this revision with `acks=all`, false when it did not in time. Never throws. */
export type PublishConfiguration = (configuration: Configuration) => Promise<boolean>;

export interface PublishOptions {
  readonly sink: Sink;
  readonly timeoutMs: number;
  readonly markPublished: (configuration: Configuration) => Promise<void>;
  readonly log: Logger;
  readonly published: Counter<'result'>;
}

/** Publishes a revision to `webhooks.configurations` and notes in the database that Kafka has it. */
export function createPublish(options: PublishOptions): PublishConfiguration {
  const { sink, timeoutMs, markPublished, log, published } = options;

  const note = async (configuration: Configuration): Promise<void> => {
    try {
      await markPublished(configuration);
    } catch (error) {
      // Not a fault of the request: the sweep publishes once more.
      log.debug('a publication could not be noted', { ref: configuration.ref, ...errorFields(error) });
    }
  };

  return async (configuration) => {
    const { tenantId, ref, revision } = configuration;
    try {
      await sink.send(
        {
          topic: TOPICS.configurations,
          key: configurationKey(tenantId, ref),
          value: JSON.stringify(toRecord(configuration)),
        },
        { deadlineMs: timeoutMs },
      );
    } catch (error) {
      published.inc({ result: 'failed' });
      log.warn('a configuration was not acknowledged by Kafka', { ref, revision, ...errorFields(error) });
      return false;
    }
    published.inc({ result: 'acknowledged' });
    await note(configuration);
    return true;
  };
}
