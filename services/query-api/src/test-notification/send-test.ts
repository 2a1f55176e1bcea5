import { deliveryIdOf, renderNotification } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import type { Configurations } from '../configurations/open-configurations.js';
import type { PublishTasks } from '../redelivery/publish-tasks.js';
import { refused } from '../redelivery/redeliver-one.js';
import { makeRedelivery } from '../redelivery/redelivery-task.js';
import { TEST_EVENT, makeTestEvent } from './make-test-event.js';

export interface SendTestPorts {
  readonly configurations: Pick<Configurations, 'current'>;
  /** Keeps the event, so that its identifiers resolve to a record marked as a test, and its bytes for a redelivery. */
  readonly keepTestEvent: (event: PaymentEvent) => Promise<void>;
  readonly publish: PublishTasks;
  readonly newId: () => string;
  readonly now: () => Date;
}

/** The first cycle: a test is a delivery like any other. */
const FIRST_CYCLE = '0';

/**
 * Sends an event that never happened through the real path to one endpoint. Throws 404 for a ref that the tenant does not
 * have and 422 when it is disabled. Resolves when Kafka has it: how it went is in the delivery log.
 */
export async function sendTest(
  tenantId: string,
  ref: string,
  ports: SendTestPorts,
): Promise<{ readonly deliveryId: string; readonly eventId: string }> {
  const configuration = await ports.configurations.current(tenantId, ref);
  if (!configuration.enabled) throw refused('disabled');
  const { eventType } = configuration;
  const now = ports.now();
  const event = makeTestEvent({ tenantId, eventType }, TEST_EVENT + ports.newId(), now);
  const body = renderNotification(event);
  await ports.keepTestEvent(event);
  const delivery = { deliveryId: deliveryIdOf(tenantId, ref, event.id), tenantId, ref, eventId: event.id };
  const task = makeRedelivery({ ...delivery, eventType }, configuration, {
    cycle: FIRST_CYCLE,
    now: now.getTime(),
    body,
  });
  await ports.publish([task]);
  return { deliveryId: delivery.deliveryId, eventId: event.id };
}
