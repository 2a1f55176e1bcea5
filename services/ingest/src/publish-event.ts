import { TOPICS, cloudEventHeaders, encodeEvent } from '@webhooks/contracts';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { addCounter, createLogThrottle, errorFields } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { PublishEvent } from './accept-event.js';

export interface PublishOptions {
  readonly sink: Sink;
  readonly source: string;
  readonly timeoutMs: number;
  readonly scope: Pick<ServiceScope, 'log' | 'registry'>;
}

/** Publishes to `payments.events`, keyed by the end-to-end id, so that events of one payment share a partition. */
export function createPublishEvent({ sink, source, timeoutMs, scope }: PublishOptions): PublishEvent {
  const help = 'Events given to Kafka, by whether Kafka acknowledged them in time';
  const published = addCounter(scope.registry, 'ingest_events_published_total', help, 'result');
  // While Kafka is away thousands fail each second, so the lines are throttled.
  const throttle = createLogThrottle();
  const send = async (id: string, record: OutgoingRecord): Promise<boolean> => {
    try {
      await sink.send(record, { deadlineMs: timeoutMs });
      published.inc({ result: 'acknowledged' });
      return true;
    } catch (error) {
      published.inc({ result: 'failed' });
      throttle((events) => {
        const fields = { events, latestEventId: id, ...errorFields(error) };
        scope.log.warn('events were not acknowledged by Kafka', fields);
      });
      return false;
    }
  };
  return (event) =>
    send(event.id, {
      topic: TOPICS.events,
      key: event.data.endToEndId,
      value: encodeEvent(event),
      headers: cloudEventHeaders(event, source),
    });
}
