import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Sum } from '@webhooks/client';
import { renderNotification } from '@webhooks/contracts';
import type { Evidence, LoggedStatus, SeenStatement } from '../evidence/evidence.js';
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

/** Adds up events and their amounts in cents. */
const sumOf = (sums: readonly Sum[]) => ({
  events: sums.reduce((all, { events }) => all + events, 0),
  cents: sums.reduce((all, { amount }) => all + Number(amount.replace('.', '')), 0),
});

/** Returns what the statements must say about a webhook: the accepted events, and what became of them. */
export function expectedSums(ref: string, { deliveries }: CaseFile) {
  const own = [...deliveries.values()].filter(
    ({ configuration, copies }) => configuration.ref === ref && copies.length > 0,
  );
  const sum = (chosen = own) =>
    sumOf(chosen.map(({ sent }) => ({ events: 1, amount: sent.event.data.amount })));
  const of = (status: LoggedStatus) => sum(own.filter((one) => expectedStatus(one) === status));
  const ended = { delivered: of('delivered'), dead: of('dead'), cancelled: of('cancelled') };
  return { events: sum(), ...ended, waiting: of('pending') };
}

/** The statements of the run's days agree with the topics, to the cent. */
export const checkStatements = (
  file: CaseFile,
  { configurations, statements }: Evidence,
): readonly Finding[] =>
  configurations.flatMap(({ ref, path }) => {
    const sum = (name: Exclude<keyof SeenStatement, 'ref'>) =>
      sumOf(statements.filter((one) => one.ref === ref).map((one) => one[name]));
    const ended = { delivered: sum('delivered'), dead: sum('dead'), cancelled: sum('cancelled') };
    const seen = { events: sum('events'), ...ended, waiting: sum('waiting') };
    const expected = expectedSums(ref, file);
    if (isDeepStrictEqual(seen, expected)) return [];
    const text = `${path}: the statements say ${JSON.stringify(seen)}, the topics ${JSON.stringify(expected)}`;
    return [{ kind: 'wrong-statement' as const, text }];
  });
