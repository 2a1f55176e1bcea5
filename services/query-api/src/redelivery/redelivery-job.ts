import type { EventType, UtcTime } from '@webhooks/contracts';

/** Statuses of deliveries that can be sent again together: what is pending is under way by itself. */
export const REDELIVERABLE = ['dead', 'cancelled', 'delivered'] as const;
export type RedeliverableStatus = (typeof REDELIVERABLE)[number];

/** Which deliveries a job names; all members that are given must match. */
export interface RedeliveryFilter {
  readonly ref?: string;
  readonly eventType?: EventType;
  readonly status: RedeliverableStatus;
  /** First attempted at or after this time. */
  readonly from: Date;
  /** First attempted before this time; never later than when the job was made. */
  readonly to: Date;
}

export type JobState = 'running' | 'completed' | 'cancelled';

/** What became of the deliveries that a job has come by. */
export interface JobCounts {
  /** Given to Kafka. */
  readonly sent: number;
  /** Their webhook was disabled, gone to another event type, or unknown. */
  readonly refused: number;
  /** Their notification is not kept any more. */
  readonly expired: number;
}

/** A page of a job. */
export interface JobStep {
  /** Added to the counts. */
  readonly counts: JobCounts;
  /** Place of the last delivery that was done. Undefined: there is nothing behind it, the job is completed. */
  readonly position: string | undefined;
}

export interface RedeliveryJob {
  readonly id: string;
  readonly tenantId: string;
  readonly filter: RedeliveryFilter;
  readonly state: JobState;
  /** Deliveries that matched when it was made; what changes its status meanwhile is left alone. */
  readonly matched: number;
  /** There were too many to count them all while the caller waited: `matched` or more. */
  readonly matchedIsLowerBound: boolean;
  readonly counts: JobCounts;
  /** Place of the delivery after which it goes on; pages are read in this order. */
  readonly position?: string;
  /** The page that is being sent, noted before it is: who dies meanwhile leaves it to the next. */
  readonly noted?: JobStep;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A filter as a caller sees it. */
export const viewFilter = ({ from, to, ...rest }: RedeliveryFilter) => ({
  ...rest,
  from: from.toISOString(),
  to: to.toISOString(),
});

/** A job as a caller sees it. */
export interface JobView {
  readonly id: string;
  readonly state: JobState;
  readonly filter: ReturnType<typeof viewFilter>;
  readonly matched: number;
  readonly matchedIsLowerBound: boolean;
  readonly sent: number;
  readonly refused: number;
  readonly expired: number;
  readonly createdAt: UtcTime;
  readonly updatedAt: UtcTime;
}

export const viewJob = ({
  id,
  state,
  filter,
  matched,
  matchedIsLowerBound,
  counts,
  createdAt,
  updatedAt,
}: RedeliveryJob): JobView => ({
  id,
  state,
  filter: viewFilter(filter),
  matched,
  matchedIsLowerBound,
  ...counts,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});
