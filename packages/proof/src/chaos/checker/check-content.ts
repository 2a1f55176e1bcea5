import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { renderNotification } from '@webhooks/contracts';
import type { Evidence, LoggedStatus, SeenStatement, Sum } from '../evidence/evidence.js';
import { fateOf, judgeEach } from './case-file.js';
import type { CaseFile, Delivery, Fault, Finding } from './case-file.js';

/** Each arrival has the bytes of the event's one rendering, at each endpoint and attempt. */
function judgeBytes({ arrivals, sent }: Delivery): Fault | undefined {
  if (arrivals.length === 0) return undefined;
  const expected = createHash('sha256').update(renderNotification(sent.event)).digest('hex');
  const other = arrivals.find(({ digest }) => digest !== expected);
  return other && { kind: 'other-bytes', text: `other bytes than the event's at ${other.path}` };
}

/** Nothing is invented, changed, rejected or unreadable: every arrival, task, entry and dead letter belongs to an event of the journal. */
export const checkContent = (file: CaseFile, { topics }: Evidence): readonly Finding[] => [
  ...file.strangers.map((what) => ({
    kind: 'invented' as const,
    text: `${what} belongs to no event that was sent`,
  })),
  ...judgeEach(file, judgeBytes),
  ...[...topics.rejected, ...topics.unreadable].map(({ topic, partition, offset }) => ({
    kind: 'rejected' as const,
    text: `was rejected, or cannot be read: ${topic}/${partition} offset ${offset}`,
  })),
];

/** Statuses in ascending order. The highest one that was reported wins, because entries arrive in any order. */
const FURTHEST: readonly LoggedStatus[] = ['pending', 'cancelled', 'dead', 'delivered'];

function statusOf({ entry }: Delivery['entries'][number]): LoggedStatus {
  if (entry.kind === 'attempt') return entry.result === 'delivered' ? 'delivered' : 'pending';
  return entry.kind === 'deferred' ? 'pending' : entry.kind;
}

/** Returns the status that the delivery log must have, according to Kafka; undefined when nothing was reported. */
function expectedStatus({ entries, dead }: Delivery): LoggedStatus | undefined {
  const reported = [...entries.map(statusOf), ...dead.map(() => 'dead' as const)];
  return FURTHEST.findLast((status) => reported.includes(status));
}

/** The delivery log agrees with the topics and with the receivers, and has no other deliveries. */
export function checkLog(file: CaseFile, { log, topics }: Evidence): readonly Finding[] {
  const kind = 'wrong-log';
  const wrong = judgeEach(file, (delivery) => {
    const [logged, expected] = [log.get(delivery.deliveryId), expectedStatus(delivery)];
    if (logged !== expected)
      return { kind, text: `the log says ${logged ?? 'nothing'}, the topics ${expected ?? 'nothing'}` };
    if (logged !== 'delivered' || fateOf(delivery, topics) === 'delivered') return undefined;
    return { kind, text: 'the log says delivered, but no receiver responded with 2xx' };
  });
  const strange = [...log.keys()].filter((deliveryId) => !file.deliveries.has(deliveryId));
  return [
    ...wrong,
    ...strange.map((id) => ({ kind, text: `the log has ${id}, which was never owed` }) as const),
  ];
}

/** query-api has each accepted transaction, with its amount. */
export function checkTransactions({ sent, transactions }: Evidence): readonly Finding[] {
  const amounts = new Map([...sent.values()].map(({ event: { data } }) => [data.endToEndId, data.amount]));
  return transactions
    .filter(({ endToEndId, amount }) => amount !== amounts.get(endToEndId))
    .map(({ endToEndId, amount = 'nothing' }) => ({
      kind: 'wrong-transaction',
      text: `query-api has ${amount} for ${endToEndId}, the journal ${amounts.get(endToEndId) ?? 'nothing'}`,
    }));
}

const STATEMENT_OF = {
  pending: 'waiting',
  delivered: 'delivered',
  dead: 'dead',
  cancelled: 'cancelled',
} as const;
const NOTHING: Sum = { events: 0, cents: 0 };

/** Returns what the statements must say about a webhook, to the cent: the accepted events, and what became of them. */
export function expectedStatement(ref: string, { deliveries }: CaseFile): SeenStatement {
  const sums: Record<keyof SeenStatement, Sum> = {
    ...{ events: NOTHING, delivered: NOTHING, dead: NOTHING, cancelled: NOTHING, waiting: NOTHING },
  };
  for (const delivery of deliveries.values()) {
    const { configuration, copies, sent } = delivery;
    if (configuration.ref !== ref || copies.length === 0) continue;
    const status = expectedStatus(delivery);
    for (const name of ['events' as const, ...(status ? [STATEMENT_OF[status]] : [])]) {
      const { events, cents } = sums[name];
      sums[name] = { events: events + 1, cents: cents + Number(sent.event.data.amount.replace('.', '')) };
    }
  }
  return sums;
}

/** The statements of the run's days agree with the topics, to the cent. */
export const checkStatements = (
  file: CaseFile,
  { configurations, statements }: Evidence,
): readonly Finding[] =>
  configurations.flatMap(({ ref, path }) => {
    const [seen, expected] = [statements.get(ref), expectedStatement(ref, file)];
    if (isDeepStrictEqual(seen, expected)) return [];
    const text = `${path}: the statements say ${JSON.stringify(seen)}, the topics ${JSON.stringify(expected)}`;
    return [{ kind: 'wrong-statement' as const, text }];
  });
