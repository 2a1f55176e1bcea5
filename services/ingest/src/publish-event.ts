import { TOPICS, cloudEventHeaders, encodeEvent } from '@webhooks/contracts';
import type { Sink } from '@webhooks/kafka';
import type { Counter, Logger } from '@webhooks/runtime';
import { errorFields } from '@webhooks/runtime';
import type { PublishEvent } from './accept-event.js';

export interface PublishOptions {
  readonly sink: Sink;
  readonly source: string;
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly published: Counter<'result'>;
}

/** Publishes to `payments.events`, keyed by the end-to-end id, so that the facts of one payment share a partition. */
export function createPublishEvent({
  sink,
  source,
  timeoutMs,
  log,
  published,
}: PublishOptions): PublishEvent {
  return async (event) => {
    const record = {
      topic: TOPICS.events,
      key: event.data.endToEndId,
      value: encodeEvent(event),
      headers: cloudEventHeaders(event, source),
    };
    try {
      await sink.send(record, { deadlineMs: timeoutMs });
      published.inc({ result: 'acknowledged' });
      return true;
    } catch (error) {
      published.inc({ result: 'failed' });
      log.warn('an event was not acknowledged by Kafka', { eventId: event.id, ...errorFields(error) });
      return false;
    }
  };
}
