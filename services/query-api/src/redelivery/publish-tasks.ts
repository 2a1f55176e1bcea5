import { TOPICS, taskHeaders } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import { AppError } from '@webhooks/http-api';
import { RecordRefused } from '@webhooks/kafka';
import type { OutgoingRecord, Sink } from '@webhooks/kafka';

/** Resolves when Kafka has all tasks; throws 503 when it did not acknowledge them in time. */
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
