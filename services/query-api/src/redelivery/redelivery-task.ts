import { taskHeaders, TOPICS } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import { RecordRefused } from '@webhooks/kafka';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';
import type { KnownConfiguration } from '../configurations.js';

/** A delivery that was made before. */
export type PastDelivery = Pick<DeliveryTask, 'deliveryId' | 'tenantId' | 'ref' | 'eventId' | 'eventType'>;

/** The name of a cycle sorts after `0`, the first one, and after those of earlier redeliveries. */
export const cycleOf = (id: string): string => `r${id}`;

/** The first attempt of a new cycle: the same id and bytes, due now (Unix milliseconds). */
export function makeTask(
  { deliveryId, tenantId, ref, eventId, eventType }: PastDelivery,
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
    body,
  };
}

/** Why a delivery cannot be made again with the current configuration. */
type Refusal = 'unknown' | 'disabled' | 'other-event-type';

export function refusalOf(
  { eventType }: Pick<PastDelivery, 'eventType'>,
  configuration: KnownConfiguration | undefined,
): Refusal | undefined {
  if (configuration === undefined) return 'unknown';
  if (!configuration.enabled) return 'disabled';
  return configuration.eventType === eventType ? undefined : 'other-event-type';
}

const WORDS: Readonly<Record<Refusal, string>> = {
  unknown: 'the webhook is not known',
  disabled: 'the webhook is disabled: enable it first',
  'other-event-type': 'the webhook has another event type now',
};

/** The error for a configuration to which nothing can be sent. */
export const refused = (refusal: Refusal): AppError =>
  new AppError(refusal === 'disabled' ? 'webhook-disabled' : 'not-redeliverable', WORDS[refusal]);

/** Resolves when Kafka has all tasks. Throws 503 when it did not acknowledge them in time. */
export type PublishTasks = (tasks: readonly DeliveryTask[]) => Promise<void>;

const toRecord = (task: DeliveryTask): OutgoingRecord => ({
  topic: TOPICS.deliveries,
  key: task.deliveryId,
  value: task.body,
  headers: taskHeaders(task),
});

export const createPublishTasks =
  (sink: Pick<Sink, 'sendMany'>, deadlineMs: number): PublishTasks =>
  async (tasks) => {
    try {
      await sink.sendMany(tasks.map(toRecord), { deadlineMs });
    } catch (error) {
      if (error instanceof RecordRefused) throw error;
      const detail = 'the broker did not take the delivery in time; try again';
      throw new AppError('unavailable', detail, { cause: error });
    }
  };
