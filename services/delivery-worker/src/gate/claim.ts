import type { DeliveryTask } from '@webhooks/contracts';

/** What the gate knows of a delivery that wants a slot. */
export interface Claim {
  /** It has waited in Kafka: no first attempt of the live topic. */
  readonly waited: boolean;
  /** It has been attempted before. */
  readonly retried: boolean;
  readonly parkedCount: number;
  /** Its age allows one attempt more, which is made whatever the breaker says. */
  readonly last: boolean;
}

export const claimOf = ({ attempt, parkedCount }: DeliveryTask, last: boolean): Claim => ({
  waited: attempt > 1 || parkedCount > 0,
  retried: attempt > 1,
  parkedCount,
  last,
});
