import { TEST_EVENT, deliveryIdOf, makeTestEvent, renderNotification } from '@webhooks/contracts';
import { refOf } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '@webhooks/mongodb';
import { v7 as uuidv7 } from 'uuid';
import type { Configurations } from '../configurations/open-configurations.js';
import type { Database } from '../database.js';
import { keepTestEvent } from '../payments/event-store.js';
import type { PublishTasks } from '../redelivery/publish-tasks.js';
import { FIRST_CYCLE } from '../delivery-log/delivery.js';
import { makeTask, refused } from '../redelivery/redelivery-task.js';

export interface TestPorts {
  readonly database: Database;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly publish: PublishTasks;
}

/**
 * Sends an event that never happened through the real path to one endpoint. Its event is kept first, so that its
 * identifiers resolve to a record marked as a test. Throws 404 for a ref that the tenant does not have and 422 when it is
 * disabled. Resolves when Kafka has it: how it went is in the delivery log.
 */
async function sendTest(
  tenantId: string,
  ref: string,
  { database, configurations, publish }: TestPorts,
): Promise<{ readonly deliveryId: string; readonly eventId: string }> {
  const configuration = await configurations.current(tenantId, ref);
  if (!configuration.enabled) throw refused('disabled');
  const { eventType } = configuration;
  const now = new Date();
  const event = makeTestEvent({ tenantId, eventType }, TEST_EVENT + uuidv7(), now);
  const body = renderNotification(event);
  await keepTestEvent(database.within(REQUEST_MS), event);
  const delivery = { deliveryId: deliveryIdOf(tenantId, ref, event.id), tenantId, ref, eventId: event.id };
  const options = { cycle: FIRST_CYCLE, now: now.getTime(), body };
  await publish([makeTask({ ...delivery, eventType }, configuration, options)]);
  return { deliveryId: delivery.deliveryId, eventId: event.id };
}

/** `POST …/{ref}/test`: tries an endpoint through the real path. */
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
