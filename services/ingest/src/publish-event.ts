import { TOPICS, cloudEventHeaders, encodeEvent } from '@webhooks/contracts';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import type { Counter } from '@webhooks/runtime';
import type { PublishEvent } from './accept-event.js';

export interface PublishOptions {
  readonly sink: Sink;
  readonly source: string;
  readonly timeoutMs: number;
  /** Called for each event that Kafka did not acknowledge in time, or that found too much waiting. */
  readonly onFailed: (eventId: string, error: unknown) => void;
  readonly published: Counter<'result'>;
}

/** Publishes to `payments.events`, keyed by the end-to-end id, so that the facts of one payment share a partition. */
export function createPublishEvent({
  sink,
  source,
  timeoutMs,
  onFailed,
  published,
}: PublishOptions): PublishEvent {
  const send = async (id: string, record: OutgoingRecord): Promise<boolean> => {
    try {
      await sink.send(record, { deadlineMs: timeoutMs });
      published.inc({ result: 'acknowledged' });
      return true;
    } catch (error) {
      published.inc({ result: 'failed' });
      onFailed(id, error);
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
