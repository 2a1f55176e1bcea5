import { AppError } from '@webhooks/http-api';
import type { Configurations } from '../configurations/open-configurations.js';
import type { PublishTasks } from './publish-tasks.js';
import { cycleOf, makeTask, refusalOf, refused } from './redelivery-task.js';
import type { PastDelivery } from './redelivery-task.js';

export interface RedeliverOnePorts {
  /** Throws 404 when there is none. */
  readonly findDelivery: (tenantId: string, deliveryId: string) => Promise<PastDelivery>;
  /** The bytes that were sent; undefined when they are not kept any more. */
  readonly findBody: (tenantId: string, eventId: string) => Promise<Buffer | undefined>;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly publish: PublishTasks;
  readonly newId: () => string;
  readonly now: () => number;
}

/**
 * Sends one delivery again, whatever became of it. Throws 404 for an unknown one, 422 when its webhook is disabled or its
 * notification is not kept any more, and 503 when the broker is away. Resolves with the new cycle when Kafka has it.
 */
export async function redeliverOne(
  tenantId: string,
  deliveryId: string,
  ports: RedeliverOnePorts,
): Promise<{ readonly deliveryId: string; readonly cycle: string }> {
  const delivery = await ports.findDelivery(tenantId, deliveryId);
  const configuration = await ports.configurations.current(tenantId, delivery.ref);
  const refusal = refusalOf(delivery, configuration);
  if (refusal !== undefined) throw refused(refusal);
  const body = await ports.findBody(tenantId, delivery.eventId);
  if (!body) throw new AppError('not-redeliverable', 'the notification is not kept any more');
  const cycle = cycleOf(ports.newId());
  await ports.publish([makeTask(delivery, configuration, { cycle, now: ports.now(), body })]);
  return { deliveryId, cycle };
}
