import type { Evidence, LoggedStatus } from '../evidence/evidence.js';
import type { CaseFile, Delivery } from './case-file.js';
import { fateOf } from './fate.js';
import type { Finding } from './finding.js';

/** The furthest of what was told of a delivery counts: entries come in any order. */
const FURTHEST: readonly LoggedStatus[] = ['pending', 'cancelled', 'dead', 'delivered'];

type Entry = Delivery['entries'][number]['entry'];

function statusOf(entry: Entry): LoggedStatus {
  if (entry.kind === 'attempt') return entry.result === 'delivered' ? 'delivered' : 'pending';
  return entry.kind === 'parked' ? 'pending' : entry.kind;
}

/** What the delivery log has to say, by all that Kafka holds; undefined when nothing was told of the delivery. */
function expectedStatus({ entries, dead }: Delivery): LoggedStatus | undefined {
  const told = [
    ...entries.map(({ entry }) => ({ cycle: entry.cycle, status: statusOf(entry) })),
    ...dead.map(({ cycle }) => ({ cycle, status: 'dead' as const })),
  ];
  // A redelivery begins anew; the names of cycles sort by their age.
  const latest = told.reduce((last, { cycle }) => (cycle > last ? cycle : last), '');
  const inLatest = told.filter(({ cycle }) => cycle === latest).map(({ status }) => status);
  return FURTHEST.findLast((status) => inLatest.includes(status));
}

function judge(delivery: Delivery, logged: LoggedStatus | undefined, evidence: Evidence): string | undefined {
  const expected = expectedStatus(delivery);
  if (logged !== expected) return `the log says ${logged ?? 'nothing'}, the topics ${expected ?? 'nothing'}`;
  if (logged === 'delivered' && fateOf(delivery, evidence.topics) !== 'delivered')
    return 'the log says delivered, and no receiver gave a 2xx';
  return undefined;
}

/** The delivery log agrees with the topics and with the receivers, and knows nothing else. */
export function checkLog({ deliveries }: CaseFile, evidence: Evidence): readonly Finding[] {
  const findings: Finding[] = [];
  for (const delivery of deliveries.values()) {
    const { deliveryId, sent, configuration } = delivery;
    const wrong = judge(delivery, evidence.log.get(deliveryId), evidence);
    if (wrong === undefined) continue;
    const text = `${sent.event.id} for ${configuration.path}: ${wrong}`;
    findings.push({ kind: 'wrong-log', text, deliveryId });
  }
  for (const deliveryId of evidence.log.keys())
    if (!deliveries.has(deliveryId))
      findings.push({ kind: 'wrong-log', text: `the log tells of ${deliveryId}, which was never owed` });
  return findings;
}

/** A transaction that was accepted is known, with its amount. */
export function checkTransactions({ sent, transactions }: Evidence): readonly Finding[] {
  const amounts = new Map([...sent.values()].map(({ event }) => [event.data.endToEndId, event.data.amount]));
  return transactions
    .filter(({ endToEndId, amount }) => amount !== amounts.get(endToEndId))
    .map(({ endToEndId, amount }) => ({
      kind: 'wrong-answer',
      text: `query-api says ${amount ?? '404'} for ${endToEndId}, the payment system ${amounts.get(endToEndId) ?? 'nothing'}`,
    }));
}
