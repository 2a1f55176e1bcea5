import { TOPICS } from '../topics.js';
import { isReturned, type DeliveryTask, type RecordOrigin } from '../task/delivery-task.js';
import { causeOf } from './failure-causes.js';

/*
 * The names of all spans and of their attributes. They follow the semantic conventions of OpenTelemetry 1.45: HTTP client
 * spans (stable), Kafka (in development: opentelemetry.io/docs/specs/semconv/messaging/kafka). `webhook.*` is ours.
 */

const kafka = (operation: 'send' | 'process', topic: string) => ({
  name: `${operation} ${topic}`,
  attributes: {
    'messaging.system': 'kafka',
    'messaging.destination.name': topic,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
  },
});

type Identified = Pick<DeliveryTask, 'tenantId' | 'eventId'>;
const eventOf = ({ tenantId, eventId }: Identified) => ({
  'webhook.tenant_id': tenantId,
  'webhook.event_id': eventId,
});
const deliveryOf = ({ deliveryId, ref, attempt }: Pick<DeliveryTask, 'deliveryId' | 'ref' | 'attempt'>) => ({
  'webhook.delivery_id': deliveryId,
  'webhook.ref': ref,
  'webhook.attempt': attempt,
});

/** ingest: from the body of a post until Kafka has acknowledged its events. */
export function publishSpan(events: number) {
  const { name, attributes } = kafka('send', TOPICS.events);
  return {
    name,
    kind: 'PRODUCER',
    attributes: { ...attributes, 'messaging.batch.message_count': events > 1 ? events : undefined },
  } as const;
}

/** delivery-worker: from the record of an event until its deliveries are settled or handed on. */
export function eventSpan(event: Identified & { readonly origin: RecordOrigin }) {
  const { topic, partition, offset } = event.origin;
  const { name, attributes } = kafka('process', topic);
  const position = {
    'messaging.destination.partition.id': String(partition),
    'messaging.kafka.offset': Number(offset),
  };
  return { name, kind: 'CONSUMER', attributes: { ...attributes, ...position, ...eventOf(event) } } as const;
}

/**
 * delivery-worker: one attempt, the wait for a connection included. The first is part of its event's trace. A retry, or what
 * was deferred, may be days later, so it begins a trace of its own, linked to the event and to the attempt before.
 */
export function attemptSpan(task: DeliveryTask, origin: string) {
  // `new URL` takes 22 us here, a quarter of what the trace of an event costs the worker. No endpoint's host is an IP address.
  const [hostname, port = '443'] = origin.slice('https://'.length).split(':');
  const attributes = {
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port),
    ...eventOf(task),
    ...deliveryOf(task),
  };
  const span = { name: 'POST', kind: 'CLIENT', attributes } as const;
  const { traceparent, previousTraceparent } = task;
  if (!isReturned(task) || traceparent === undefined) return span;
  return {
    ...span,
    links: [traceparent, ...(previousTraceparent === undefined ? [] : [previousTraceparent])],
  };
}

/**
 * What became of an attempt. `result`: undefined when nothing was sent. There is no `url.full`: the path of an endpoint may
 * hold a secret.
 */
export function attemptEnd(
  settlement: { readonly kind: string; readonly reason?: string },
  result: { readonly status?: number; readonly error?: string; readonly code?: string } = {},
) {
  const { status = 0, error } = result;
  const failure = settlement.reason === 'fault' ? 'fault' : error;
  return {
    'webhook.settlement': settlement.kind,
    'webhook.cause': causeOf(result),
    'http.response.status_code': result.status,
    'error.type': status >= 300 ? String(status) : failure,
  };
}

/** delivery-worker: from the decision until Kafka has acknowledged what follows from it. */
export const settleSpan = (event: Identified, settlement: string) =>
  ({
    name: 'settle',
    kind: 'PRODUCER',
    attributes: { ...eventOf(event), 'webhook.settlement': settlement },
  }) as const;

/** query-api: from an entry of `webhooks.attempts` until the database has it. */
export function projectSpan(entry: Identified & Pick<DeliveryTask, 'deliveryId' | 'ref' | 'attempt'>) {
  const { name, attributes } = kafka('process', TOPICS.attempts);
  return {
    name,
    kind: 'CONSUMER',
    attributes: { ...attributes, ...eventOf(entry), ...deliveryOf(entry) },
  } as const;
}
