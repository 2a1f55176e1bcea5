import { cloudEventHeaders, deriveEventId, encodeEvent, readPostedEvent, TOPICS } from '@webhooks/contracts';
import type { PaymentEvent, PostedEvent, Violation } from '@webhooks/contracts';
import type { Identity } from '@webhooks/http-api';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { addCounter, createLogThrottle, errorFields } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import type { IngestConfig } from './config.js';
import type { Candidate } from './read-candidates.js';

/** The result of one posted event. */
export type EventResult =
  | { readonly status: 'accepted'; readonly id: string }
  | { readonly status: 'unavailable'; readonly id: string }
  | { readonly status: 'forbidden-tenant'; readonly id?: string }
  | { readonly status: 'invalid'; readonly id?: string; readonly violations: readonly Violation[] };

/**
 * Publishes an event, with the trace context of its post. Resolves with true when Kafka acknowledged it with `acks=all`, and with false when it did not
 * in time.
 */
export type PublishEvent = (event: PaymentEvent, traceparent: string | undefined) => Promise<boolean>;

/** The scope of the operator's payment systems. It admits events of any tenant, without tenant limits. */
export const ANY_TENANT = 'event.write.any';

const idOf = (value: unknown): { id?: string } =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
    ? { id: value.id.slice(0, 64) }
    : {};

/** Adds the tenant. When the sender set no id, also adds the id derived from the business fact. */
function stamp(posted: PostedEvent, identity: Identity): PaymentEvent {
  const tenantId = posted.tenantId ?? identity.tenantId;
  return { ...posted, tenantId, id: posted.id ?? deriveEventId(tenantId, posted) };
}

/** Returns the event to publish, or the result that rejects it. */
function read(candidate: Candidate, identity: Identity): PaymentEvent | EventResult {
  if ('fault' in candidate)
    return {
      status: 'invalid',
      violations: [{ property: '', reason: candidate.fault }],
    };
  const posted = readPostedEvent(candidate.value);
  if (!posted.ok) return { status: 'invalid', ...idOf(candidate.value), violations: posted.violations };
  if (posted.event.tenantId === undefined && identity.scopes.has(ANY_TENANT)) {
    const violation = { property: 'tenantId', reason: `is required with the scope ${ANY_TENANT}` };
    return { status: 'invalid', ...idOf(candidate.value), violations: [violation] };
  }
  const event = stamp(posted.event, identity);
  if (event.tenantId !== identity.tenantId && !identity.scopes.has(ANY_TENANT))
    return { status: 'forbidden-tenant', id: event.id };
  return event;
}

/**
 * Validate → stamp → publish. Never rejects for a fault of the event. Not `async`: an async frame would keep the
 * parsed values in memory until Kafka acknowledges, up to twenty times the bytes.
 */
export function acceptEvent(
  candidate: Candidate,
  identity: Identity,
  publish: (event: PaymentEvent) => Promise<boolean>,
): Promise<EventResult> {
  const event = read(candidate, identity);
  if ('status' in event) return Promise.resolve(event);
  const { id } = event;
  return publish(event).then((done) => ({ status: done ? 'accepted' : 'unavailable', id }));
}

/**
 * Creates the publisher to `payments.events`. The key is the end-to-end id, so that events of one payment share a
 * partition.
 */
export function createPublishEvent(
  sink: Sink,
  { eventSource, publishTimeoutMs }: Pick<IngestConfig, 'eventSource' | 'publishTimeoutMs'>,
  scope: Pick<ServiceScope, 'log' | 'registry'>,
): PublishEvent {
  const help = 'Events sent to Kafka, by whether Kafka acknowledged them in time';
  const published = addCounter(scope.registry, 'ingest_events_published_total', help, 'result');
  published.inc({ result: 'failed' }, 0);
  // While Kafka is down, thousands of sends fail each second, so the lines are throttled.
  const throttle = createLogThrottle();
  const send = async (id: string, record: OutgoingRecord): Promise<boolean> => {
    try {
      await sink.send(record, { deadlineMs: publishTimeoutMs });
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
  return (event, traceparent) =>
    send(event.id, {
      topic: TOPICS.events,
      key: event.data.endToEndId,
      value: encodeEvent(event),
      headers: {
        ...cloudEventHeaders(event, eventSource),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
    });
}
