import {
  compileCheck,
  deliveryIdOf,
  isEventType,
  makeTestEvent,
  PATTERNS,
  renderNotification,
  TEST_EVENT,
} from '@webhooks/contracts';
import { AppError, readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Logger } from '@webhooks/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { FIRST_CYCLE } from '../delivery-log/delivery-state.js';
import { LIST_PARAMETERS } from '../delivery-log/list-query.js';
import { bodyOf, storeTestEvent } from '../payments/event-store.js';
import type { EventRow } from '../payments/event-store.js';
import { readDeliveryId } from '../request-parameters.js';
import { cycleOf, makeTask, refusalError, refusalOf } from './redelivery-task.js';
import type { PastDelivery, PublishTasks } from './redelivery-task.js';

export interface SendPorts {
  /** Finds a delivery of this tenant. Throws 404 when there is none. */
  readonly findDelivery: (tenantId: string, deliveryId: string) => Promise<PastDelivery>;
  /** Finds an event of this tenant. Waits for the projection before a miss. */
  readonly findEvent: (tenantId: string, eventId: string) => Promise<EventRow | undefined>;
  /** How long notifications are stored, in milliseconds. */
  readonly retentionMs: number;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly publish: PublishTasks;
  readonly database: Pick<Database, 'within'>;
  readonly log: Pick<Logger, 'info'>;
  readonly newId: () => string;
  readonly now: () => number;
}

/**
 * Sends an event to a webhook in a new cycle (the id of this redelivery). Resolves when Kafka has acknowledged the task.
 * Throws 404 for an unknown webhook. Throws 422 when it is disabled or of another event type, or the notification is no
 * longer stored, and 503 when the broker is unreachable.
 */
async function send(
  delivery: PastDelivery,
  event: EventRow | undefined,
  { identity, requestId }: ApiRequest,
  ports: SendPorts,
): Promise<{ readonly deliveryId: string; readonly cycle: string }> {
  const { deliveryId, tenantId, ref, eventId } = delivery;
  const configuration = await ports.configurations.current(tenantId, ref);
  const refusal = refusalOf(delivery, configuration);
  if (refusal !== undefined) throw refusalError(refusal);
  const body = event && bodyOf(event, ports.retentionMs);
  if (!body) throw new AppError('not-redeliverable', 'the notification is no longer stored');
  const cycle = cycleOf(ports.newId());
  const { clientId, personId } = identity;
  // Written first: a broker that did not acknowledge the task in time may have it.
  ports.log.info('audit', { action: 'send', requestId, clientId, personId, tenantId, ref, eventId, cycle });
  await ports.publish([makeTask(delivery, configuration, { cycle, now: ports.now(), body })]);
  return { deliveryId, cycle };
}

/** `POST …/redeliver`: sends one delivery again, whatever its status. Throws 404 for an unknown delivery. */
export async function redeliverOne(request: ApiRequest, ports: SendPorts) {
  const { tenantId } = request.identity;
  const delivery = await ports.findDelivery(tenantId, readDeliveryId(request));
  return send(delivery, await ports.findEvent(tenantId, delivery.eventId), request, ports);
}

const checkBody = compileCheck<{ readonly eventId: string; readonly ref: string }>({
  type: 'object',
  additionalProperties: false,
  required: ['eventId', 'ref'],
  properties: {
    eventId: { type: 'string', pattern: PATTERNS.eventId, description: LIST_PARAMETERS.eventId.expected },
    ref: { type: 'string', pattern: PATTERNS.givenRef, description: LIST_PARAMETERS.ref.expected },
  },
});

/** `POST …/deliveries`: sends an event to a webhook, whether there is a delivery or not. Throws 404 for an unknown event. */
export async function sendEvent(request: ApiRequest, ports: SendPorts) {
  const { tenantId } = request.identity;
  const { eventId, ref: given } = readJson(request, checkBody);
  const ref = given.toLowerCase();
  const event = await ports.findEvent(tenantId, eventId);
  if (!event) throw new AppError('not-found', 'there is no event with this id');
  const deliveryId = deliveryIdOf(tenantId, ref, eventId);
  const { eventType, appendedAt } = event;
  const acceptedAt = appendedAt?.getTime();
  return send({ deliveryId, tenantId, ref, eventId, eventType, acceptedAt }, event, request, ports);
}

/**
 * `POST …/{ref}/test`: sends a test event to one endpoint; the delivery worker treats its task like any other. The event
 * is stored first, marked as a test, so that its identifiers can be queried. Throws 404 for a ref that the tenant does not
 * have or that is an alert endpoint's, and 422 when the webhook is disabled. Resolves when Kafka has acknowledged the task;
 * the delivery log shows the result.
 */
export async function sendTest(
  tenantId: string,
  ref: string,
  { database, configurations, publish }: Pick<SendPorts, 'database' | 'configurations' | 'publish'>,
): Promise<{ readonly deliveryId: string; readonly eventId: string }> {
  const configuration = await configurations.current(tenantId, ref);
  const { enabled, eventType } = configuration;
  if (!isEventType(eventType)) throw new AppError('not-found', 'an alert endpoint gets no test event');
  if (!enabled) throw refusalError('disabled');
  const now = new Date();
  const event = makeTestEvent({ tenantId, eventType }, TEST_EVENT + uuidv7(), now);
  const body = renderNotification(event);
  await storeTestEvent(database.within(REQUEST_MS), event);
  const delivery = { deliveryId: deliveryIdOf(tenantId, ref, event.id), tenantId, ref, eventId: event.id };
  const options = { cycle: FIRST_CYCLE, now: now.getTime(), body };
  await publish([makeTask({ ...delivery, eventType }, configuration, options)]);
  return { deliveryId: delivery.deliveryId, eventId: event.id };
}
