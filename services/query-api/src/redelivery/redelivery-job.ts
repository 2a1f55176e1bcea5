import type { EventType } from '@webhooks/contracts';

/**
 * Statuses of deliveries that can be sent again together: what is pending is under way by itself. `missed`: events of which
 * there is no delivery to the endpoint.
 */
export const REDELIVERABLE = ['dead', 'cancelled', 'delivered', 'missed'] as const;

/** Which deliveries a job names; all members that are given must match. */
export interface RedeliveryFilter {
  readonly ref?: string;
  readonly eventType?: EventType;
  readonly status: (typeof REDELIVERABLE)[number];
  /** First attempted, or missed and appended, at or after this time. */
  readonly from: Date;
  /** The same, before this time; never later than when the job was made. */
  readonly to: Date;
}

/** What became of the deliveries that a job has come by. */
export interface JobCounts {
  /** Given to Kafka. */
  readonly sent: number;
  /** Their webhook was disabled, gone to another event type, or unknown. */
  readonly refused: number;
  /** Their notification is not kept any more. */
  readonly expired: number;
}

/** A job as a document of the collection `redeliveries`. */
export interface RedeliveryJob {
  /** A UUID of version 7: it sorts as the time at which the job was made. */
  readonly _id: string;
  readonly tenantId: string;
  readonly filter: RedeliveryFilter;
  readonly state: 'running' | 'completed' | 'cancelled';
  /** Deliveries that matched when it was made; what changes its status meanwhile is left alone. */
  readonly matched: number;
  /** There were too many to count them all while the caller waited: `matched` or more. */
  readonly matchedIsLowerBound: boolean;
  readonly counts: JobCounts;
  /** Place of the delivery, or event, after which it goes on; pages are read in this order. */
  readonly position?: string;
  /** Until when no other instance takes it. */
  readonly leaseUntil: Date;
  /** Who took it last. */
  readonly owner?: string;
  /** `tenantId/number` while it runs: a tenant has as many running jobs as there are numbers, at most. */
  readonly slot?: string;
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
export const viewJob = ({ _id, filter, counts, createdAt, updatedAt, ...job }: RedeliveryJob) => ({
  id: _id,
  state: job.state,
  filter: viewFilter(filter),
  matched: job.matched,
  matchedIsLowerBound: job.matchedIsLowerBound,
  ...counts,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});
