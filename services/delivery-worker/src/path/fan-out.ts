import { deliveryIdOf } from '@webhooks/contracts';
import type { DeliveryTask, PaymentEvent, RecordOrigin } from '@webhooks/contracts';
import type { Configuration } from '../configurations/configuration.js';

/** What all deliveries of one event share. */
export interface FanOutSource {
  readonly event: PaymentEvent;
  readonly body: Buffer;
  readonly origin: RecordOrigin;
  /** When Kafka had the event, Unix milliseconds: the first attempts are due from then on. */
  readonly appendedAt: number;
  /** When it was read: the greatest age counts from here, so that no outage of ours takes attempts away. */
  readonly now: number;
  readonly traceparent?: string;
}

function makeTask(source: FanOutSource, { ref, revision, applicationId }: Configuration): DeliveryTask {
  const { event, body, origin, appendedAt, now, traceparent } = source;
  return {
    deliveryId: deliveryIdOf(event.tenantId, ref, event.id),
    cycle: '0',
    eventId: event.id,
    eventType: event.eventType,
    tenantId: event.tenantId,
    ref,
    revision,
    attempt: 1,
    dueAt: appendedAt,
    firstDueAt: now,
    parkedCount: 0,
    origin,
    body,
    ...(applicationId === undefined ? {} : { applicationId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** One first attempt for each configuration in force; they share the bytes of the body. */
export const fanOut = (source: FanOutSource, configurations: readonly Configuration[]): DeliveryTask[] =>
  configurations.map((configuration) => makeTask(source, configuration));
