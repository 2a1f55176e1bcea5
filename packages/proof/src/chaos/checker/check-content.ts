import { createHash } from 'node:crypto';
import { renderNotification } from '@webhooks/contracts';
import type { Evidence, LoggedStatus } from '../evidence/evidence.js';
import { fateOf } from './case-file.js';
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

/** The furthest of what was reported of a delivery counts: entries come in any order. */
const FURTHEST: readonly LoggedStatus[] = ['pending', 'cancelled', 'dead', 'delivered'];

function statusOf({ entry }: Delivery['entries'][number]): LoggedStatus {
  if (entry.kind === 'attempt') return entry.result === 'delivered' ? 'delivered' : 'pending';
  return entry.kind === 'deferred' ? 'pending' : entry.kind;
}

/** What the delivery log has to say, by all that Kafka holds; undefined when nothing was reported of the delivery. */
function expectedStatus({ entries, dead }: Delivery): LoggedStatus | undefined {
  const reported = [...entries.map(statusOf), ...dead.map(() => 'dead' as const)];
  return FURTHEST.findLast((status) => reported.includes(status));
}

function judge(delivery: Delivery, { log, topics }: Evidence): string | undefined {
  const logged = log.get(delivery.deliveryId);
  const expected = expectedStatus(delivery);
  if (logged !== expected) return `the log says ${logged ?? 'nothing'}, the topics ${expected ?? 'nothing'}`;
  if (logged === 'delivered' && fateOf(delivery, topics) !== 'delivered')
    return 'the log says delivered, and no receiver gave a 2xx';
  return undefined;
}

/** The delivery log agrees with the topics and with the receivers, and knows nothing else. */
export function checkLog({ deliveries }: CaseFile, evidence: Evidence): readonly Finding[] {
  const findings: Finding[] = [];
  for (const delivery of deliveries.values()) {
    const wrong = judge(delivery, evidence);
    if (wrong !== undefined) findings.push({ kind: 'wrong-log', text: wrong, delivery });
  }
  for (const deliveryId of evidence.log.keys())
    if (!deliveries.has(deliveryId))
      findings.push({ kind: 'wrong-log', text: `the log has ${deliveryId}, which was never owed` });
  return findings;
}

/** A transaction that was accepted is known, with its amount. */
export function checkTransactions({ sent, transactions }: Evidence): readonly Finding[] {
  const amounts = new Map([...sent.values()].map(({ event: { data } }) => [data.endToEndId, data.amount]));
  return transactions
    .filter(({ endToEndId, amount }) => amount !== amounts.get(endToEndId))
    .map(({ endToEndId, amount = 'nothing' }) => ({
      kind: 'wrong-transaction',
      text: `query-api has ${amount} for ${endToEndId}, the journal ${amounts.get(endToEndId) ?? 'nothing'}`,
    }));
}
