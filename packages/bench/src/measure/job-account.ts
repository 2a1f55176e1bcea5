import type { Redelivery, RedeliveryCount } from '@webhooks/client';
import type { Totals } from './run-ledger.js';

/** What was said of a redelivery job, and what came of it. */
export interface JobAccount {
  /** Deliveries that the filter names. */
  readonly named: number;
  /** What the dry run counted. */
  readonly counted: RedeliveryCount;
  /** The job when it had ended. */
  readonly job: Pick<Redelivery, 'state' | keyof RedeliveryCount | 'sent' | 'refused' | 'expired'>;
  /** Arrivals meanwhile: owed are the deliveries named, strangers are all others of the same tenant. */
  readonly totals: Totals;
}

const isTrue = ({ matched, matchedIsLowerBound }: RedeliveryCount, named: number): boolean =>
  matchedIsLowerBound ? matched <= named : matched === named;

/** Why a job did not do what was asked; undefined when it sent exactly the deliveries that were named. */
export function jobFault({ named, counted, job, totals }: JobAccount): string | undefined {
  if (!isTrue(counted, named)) return `the dry run counted ${counted.matched} of ${named} deliveries`;
  if (job.state !== 'completed') return `the job is ${job.state}`;
  if (!isTrue(job, named)) return `the job matched ${job.matched} of ${named} deliveries`;
  if (job.refused + job.expired > 0) return `${job.refused + job.expired} deliveries were not sent again`;
  if (job.sent !== named) return `the job sent ${job.sent} of ${named} deliveries`;
  if (totals.strangers > 0) return `${totals.strangers} deliveries were sent again that nobody named`;
  return totals.delivered === named ? undefined : `${totals.delivered} of ${named} deliveries came again`;
}
