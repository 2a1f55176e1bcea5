import { createHash } from 'node:crypto';
import { renderNotification } from '@webhooks/contracts';
import type { Evidence } from '../evidence/evidence.js';
import type { CaseFile, Delivery, Finding } from './case-file.js';

/** The same bytes for the same id: those of the one rendering of the event, at each endpoint and attempt. */
function judgeBytes(delivery: Delivery): readonly Finding[] {
  if (delivery.arrivals.length === 0) return [];
  const expected = createHash('sha256').update(renderNotification(delivery.sent.event)).digest('hex');
  const other = delivery.arrivals.find(({ digest }) => digest !== expected);
  return other
    ? [{ kind: 'other-bytes', text: `other bytes than the event's at ${other.path}`, delivery }]
    : [];
}

/** Nothing is invented, changed, refused or illegible: every arrival, task, entry and dead letter belongs to an event of the journal. */
export const checkContent = (
  { deliveries, strangers }: CaseFile,
  { topics }: Evidence,
): readonly Finding[] => [
  ...strangers.map((what) => ({
    kind: 'invented' as const,
    text: `${what} belongs to nothing that was sent`,
  })),
  ...[...deliveries.values()].flatMap(judgeBytes),
  ...[...topics.rejected, ...topics.unreadable].map(({ topic, partition, offset }) => ({
    kind: 'rejected' as const,
    text: `was rejected, or cannot be read: ${topic}/${partition} offset ${offset}`,
  })),
];
