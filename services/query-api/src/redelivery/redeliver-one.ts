import { AppError } from '@webhooks/http-api';
import type { Configurations } from '../configurations/open-configurations.js';
import type { PublishTasks } from './publish-tasks.js';
import { cycleOf, makeRedelivery, refusalOf } from './redelivery-task.js';
import type { PastDelivery, Refusal } from './redelivery-task.js';

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

const WORDS: Readonly<Record<Refusal, string>> = {
  unknown: 'the webhook is not known',
  disabled: 'the webhook is disabled: enable it first',
  'other-event-type': 'the webhook asks for another event type now',
};

/** What a caller is told of a configuration to which nothing can be sent. */
export const refused = (refusal: Refusal): AppError =>
  refusal === 'disabled'
    ? new AppError('webhook-disabled', WORDS.disabled)
    : new AppError('not-redeliverable', WORDS[refusal]);

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
  await ports.publish([makeRedelivery(delivery, configuration, { cycle, now: ports.now(), body })]);
  return { deliveryId, cycle };
}
