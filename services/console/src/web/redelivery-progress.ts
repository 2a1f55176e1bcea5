import type { Redelivery } from '@webhooks/client';
import type { Speech } from './language.js';

type Job = Pick<
  Redelivery,
  'state' | 'createdAt' | 'updatedAt' | 'matched' | 'matchedIsLowerBound' | 'sent' | 'refused' | 'expired'
>;

/** How many deliveries a job has dealt with. */
export const doneOf = ({ sent, refused, expired }: Pick<Job, 'sent' | 'refused' | 'expired'>): number =>
  sent + refused + expired;

/** Says how far a job is, what it did not send, and how long the rest takes at the speed so far. */
export function progressText(
  job: Job,
  { texts, say, relative }: Pick<Speech, 'texts' | 'say' | 'relative'>,
): string {
  const done = doneOf(job);
  const unsent = job.refused + job.expired;
  // Both times are the service's: a browser's clock may differ.
  const tookMs = Date.parse(job.updatedAt) - Date.parse(job.createdAt);
  const leftMs = ((job.matched - done) * tookMs) / done;
  const least = job.matchedIsLowerBound ? texts.least : '';
  const parts = [say('jobDone', { done, matched: job.matched, least })];
  if (unsent > 0) parts.push(say('jobUnsent', { count: unsent }));
  if (job.state === 'running' && Number.isFinite(leftMs) && !job.matchedIsLowerBound)
    parts.push(say('jobEnds', { at: relative(new Date(Date.now() + Math.max(0, leftMs)).toISOString()) }));
  return parts.join(' ');
}
