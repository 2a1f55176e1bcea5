import { createHash } from 'node:crypto';
import { renderNotification } from '@webhooks/contracts';
import type { Evidence } from '../evidence/evidence.js';
import type { CaseFile, Delivery } from './case-file.js';
import type { Finding } from './finding.js';

const digestOf = ({ sent }: Delivery): string =>
  createHash('sha256').update(renderNotification(sent.event)).digest('hex');

/** Nothing is invented: every arrival, task, entry and dead letter belongs to an event of the journal. */
const checkStrangers = ({ strangers }: CaseFile): readonly Finding[] =>
  strangers.map((what) => ({ kind: 'invented', text: `${what} belongs to nothing that was sent` }));

/** The same bytes for the same id: those of the one rendering of the event, at each endpoint and attempt. */
function checkBytes({ deliveries }: CaseFile): readonly Finding[] {
  const findings: Finding[] = [];
  for (const delivery of deliveries.values()) {
    const expected = delivery.arrivals.length > 0 ? digestOf(delivery) : '';
    const other = delivery.arrivals.find(({ digest }) => digest !== expected);
    if (!other) continue;
    const { deliveryId, sent } = delivery;
    const text = `${sent.event.id} arrived at ${other.path} with other bytes than the event's`;
    findings.push({ kind: 'other-bytes', text, deliveryId });
  }
  return findings;
}

const checkReadable = ({ topics }: Evidence): readonly Finding[] => [
  ...topics.rejected.map(({ offset }) => ({
    kind: 'rejected' as const,
    text: `a record of payments.events was rejected (offset ${offset} of payments.events.rejected)`,
  })),
  ...topics.unreadable.map(({ topic, partition, offset }) => ({
    kind: 'rejected' as const,
    text: `the record at ${topic}/${partition} offset ${offset} cannot be read`,
  })),
];

export const checkContent = (file: CaseFile, evidence: Evidence): readonly Finding[] => [
  ...checkStrangers(file),
  ...checkBytes(file),
  ...checkReadable(evidence),
];
