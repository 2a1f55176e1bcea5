import { taskHeaders, TOPICS } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import { RecordRefused } from '@webhooks/kafka';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import { settleAll } from '@webhooks/runtime';
import type { KnownConfiguration } from '../configurations.js';

/** The fields of an earlier delivery that a redelivery needs. */
export type PastDelivery = Pick<
  DeliveryTask,
  'deliveryId' | 'tenantId' | 'ref' | 'eventId' | 'eventType' | 'acceptedAt'
>;

/** Returns the cycle of a redelivery. It sorts after `0`, the first one, and after those of earlier redeliveries. */
export const cycleOf = (id: string): string => `r${id}`;

/** Makes the first task of a new cycle: with the same delivery id and bytes, due at `now` (Unix milliseconds). */
export function makeTask(
  { deliveryId, tenantId, ref, eventId, eventType, acceptedAt }: PastDelivery,
  { revision, applicationId }: KnownConfiguration,
  { cycle, now, body }: Pick<DeliveryTask, 'cycle' | 'body'> & { readonly now: number },
): DeliveryTask {
  return {
    deliveryId,
    cycle,
    eventId,
    eventType,
    tenantId,
    ref,
    applicationId,
    revision,
    attempt: 1,
    dueAt: now,
    firstDueAt: now,
    deferralCount: 0,
    // The task was read from no topic; its cycle distinguishes it from other records.
    origin: { topic: TOPICS.deliveries, partition: 0, offset: '0' },
    acceptedAt,
    body,
  };
}

/** Why a delivery cannot be sent again with the current configuration. */
type Refusal = 'disabled' | 'other-event-type';

/** Returns why a delivery cannot be sent again; undefined when it can. */
export function refusalOf(
  { eventType }: Pick<PastDelivery, 'eventType'>,
  configuration: KnownConfiguration,
): Refusal | undefined {
  if (!configuration.enabled) return 'disabled';
  return configuration.eventType === eventType ? undefined : 'other-event-type';
}

const REASONS: Readonly<Record<Refusal, string>> = {
  disabled: 'the webhook is disabled: enable it first',
  'other-event-type': 'the webhook receives another event type',
};

/** Makes the error for a configuration to which nothing can be sent. */
export const refusalError = (refusal: Refusal): AppError =>
  new AppError(refusal === 'disabled' ? 'webhook-disabled' : 'not-redeliverable', REASONS[refusal]);

/** Resolves when Kafka has acknowledged all tasks. Throws 503 when it did not in time. */
export type PublishTasks = (tasks: readonly DeliveryTask[]) => Promise<void>;

const toRecord = (task: DeliveryTask): OutgoingRecord => ({
  topic: TOPICS.deliveries,
  key: task.deliveryId,
  value: task.body,
  headers: taskHeaders(task),
});

export const createPublishTasks =
  (sink: Pick<Sink, 'send'>, deadlineMs: number): PublishTasks =>
  async (tasks) => {
    try {
      await settleAll(tasks.map((task) => sink.send(toRecord(task), { deadlineMs })));
    } catch (error) {
      if (error instanceof RecordRefused) throw error;
      const detail = 'the broker did not acknowledge the delivery in time; try again';
      throw new AppError('unavailable', detail, { cause: error });
    }
  };
