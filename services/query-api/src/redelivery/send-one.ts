import {
  deliveryIdOf,
  isEventType,
  makeTestEvent,
  renderNotification,
  TEST_EVENT,
} from '@webhooks/contracts';
import { AppError, refOf } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import { v7 as uuidv7 } from 'uuid';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { FIRST_CYCLE } from '../delivery-log/delivery-state.js';
import { storeTestEvent } from '../payments/event-store.js';
import { cycleOf, makeTask, refusalError, refusalOf } from './redelivery-task.js';
import type { PastDelivery, PublishTasks } from './redelivery-task.js';

export interface RedeliverOnePorts {
  /** Finds a delivery of this tenant. Throws 404 when there is none. */
  readonly findDelivery: (tenantId: string, deliveryId: string) => Promise<PastDelivery>;
  /** Returns the bytes that were sent; undefined when they are no longer stored. */
  readonly findBody: (tenantId: string, eventId: string) => Promise<Buffer | undefined>;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly publish: PublishTasks;
  readonly newId: () => string;
  readonly now: () => number;
}

/**
 * Sends one delivery again, whatever its status. Resolves with the new cycle (the id of this redelivery) when Kafka has
 * acknowledged the task. Throws 404 for an unknown delivery. Throws 422 when its webhook is disabled or its notification
 * is no longer stored, and 503 when the broker is unreachable.
 */
export async function redeliverOne(
  tenantId: string,
  deliveryId: string,
  ports: RedeliverOnePorts,
): Promise<{ readonly deliveryId: string; readonly cycle: string }> {
  const delivery = await ports.findDelivery(tenantId, deliveryId);
  const configuration = await ports.configurations.current(tenantId, delivery.ref);
  const refusal = refusalOf(delivery, configuration);
  if (refusal !== undefined) throw refusalError(refusal);
  const body = await ports.findBody(tenantId, delivery.eventId);
  if (!body) throw new AppError('not-redeliverable', 'the notification is no longer stored');
  const cycle = cycleOf(ports.newId());
  await ports.publish([makeTask(delivery, configuration, { cycle, now: ports.now(), body })]);
  return { deliveryId, cycle };
}

export interface TestPorts {
  readonly database: Database;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly publish: PublishTasks;
}

/**
 * Sends a test event to one endpoint; the delivery worker treats its task like any other. The event is stored first,
 * marked as a test, so that its identifiers can be queried. Throws 404 for a ref that the tenant does not have or that is
 * an alert endpoint's, and 422 when the webhook is disabled. Resolves when Kafka has acknowledged the task; the delivery log shows the result.
 */
async function sendTest(
  tenantId: string,
  ref: string,
  { database, configurations, publish }: TestPorts,
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

/** `POST …/{ref}/test`. */
export const testOperations = (ports: TestPorts): readonly Operation[] => [
  {
    method: 'POST',
    path: '/integration/v1/webhooks/:ref/test',
    scopes: ['delivery.write'],
    handle: async (request) => ({
      status: 202,
      body: await sendTest(request.identity.tenantId, refOf(request), ports),
    }),
  },
];
