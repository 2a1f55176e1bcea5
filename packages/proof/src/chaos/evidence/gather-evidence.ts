import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { ProblemError } from '@webhooks/client';
import type { Client } from '@webhooks/client';
import type { ArrivalLine } from '@webhooks/testkit';
import { areZero, readLags, untilNone } from '@webhooks/testkit/account';
import type { SentEvent } from '../generator/generator.js';
import { TENANTS, planConfigurations, RETRY_DELAYS_MS, RETRY_JITTER } from '../world/configurations.js';
import { WORKERS } from '../world/world.js';
import type { World } from '../world/world.js';
import type { Arrived, Evidence, LoggedStatus, SeenTransaction } from './evidence.js';
import { countUnhandled, readTopics } from './read-topics.js';

/**
 * `times`: a single empty poll proves nothing, because the last records may not have been fetched yet. `stalledMs`: three times the longest
 * batch of query-api that was seen, 100 s on two shared cores.
 */
const POLLING = { times: 4, stalledMs: 300_000 };
const PAGE = 200;
/** Short, because the embedded database scans the whole range for each page. At 500 events a second a range has 13 pages. */
const RANGE_MS = 5_000;
/** A day of a statement: São Paulo is three hours behind UTC. */
const dayOf = (at: number): string => new Date(at - 3 * 3_600_000).toISOString().slice(0, 10);
/** Maximum number of transactions to request. */
const TRANSACTIONS = 200;

/** Paths whose signatures are verified. At other paths bodies are not stored. */
const SIGNED: ReadonlySet<string> = new Set(
  planConfigurations().flatMap(({ treatment, path }) => (treatment === 'signed' ? [path] : [])),
);

function toArrived(line: ArrivalLine): Arrived {
  const { id, path, status, receivedAt, headers, body } = line;
  const signature = headers['webhook-signature'];
  return {
    id,
    path,
    status,
    receivedAt,
    attempt: Number(headers['webhook-attempt']),
    startedAtSeconds: Number(headers['webhook-timestamp']),
    digest: createHash('sha256').update(body).digest('hex'),
    ...(signature !== undefined && SIGNED.has(path) ? { signed: { signature, body } } : {}),
  };
}

/** Reads the receivers' append-only file, line by line. Throws for a line that is no arrival. */
async function readArrivals(file: string): Promise<readonly Arrived[]> {
  const arrivals: Arrived[] = [];
  for await (const line of createInterface({ input: createReadStream(file) }))
    arrivals.push(toArrived(JSON.parse(line) as ArrivalLine));
  return arrivals;
}

/** Polls until nothing is left or nothing changes. A failed poll counts as something left; rejects when the last one fails. */
async function untilDone(countLeft: () => Promise<number>): Promise<void> {
  await untilNone(() => countLeft().catch(() => Infinity), POLLING);
  await countLeft();
}

/** Returns the number of records that no process of query-api has projected yet: each knows only its own partitions. */
async function countUnprojected({ stack }: Pick<World, 'stack'>): Promise<number> {
  const admins = Object.entries(stack.description().admin).filter(([name]) => name.startsWith('query-api'));
  const lags = await Promise.all(admins.map(([, admin]) => readLags(admin)));
  return lags.every(areZero) ? 0 : lags.flat().reduce((sum, { records }) => sum + records, 1);
}

/** Reads the delivery log of all tenants since the first event, page by page. */
async function readLog(
  clients: readonly Client[],
  sent: Evidence['sent'],
): Promise<ReadonlyMap<string, LoggedStatus>> {
  const log = new Map<string, LoggedStatus>();
  const [first] = sent.values();
  const end = Date.now();
  for (let at = first?.sentAt ?? end; at < end; at += RANGE_MS) {
    const [from, to] = [new Date(at).toISOString(), new Date(at + RANGE_MS).toISOString()];
    for (const client of clients)
      for await (const { deliveryId, status } of client.eachDelivery({ from, to, limit: PAGE }))
        log.set(deliveryId, status);
  }
  return log;
}

/** Requests the transactions of up to 200 accepted payments, evenly chosen. A reversal has no transaction of its own. */
async function readTransactions(
  { clientOf }: Pick<World, 'clientOf'>,
  sent: Evidence['sent'],
): Promise<readonly SeenTransaction[]> {
  const isPayment = ({ event, acceptedAt }: SentEvent): boolean =>
    acceptedAt !== undefined && event.eventType !== 'PIX_REVERSAL';
  const payments = [...sent.values()].filter(isPayment);
  const every = Math.ceil(payments.length / TRANSACTIONS);
  const transactions: SeenTransaction[] = [];
  for (const { event } of payments.filter((_, index) => index % every === 0)) {
    const { endToEndId } = event.data;
    const transaction = clientOf(event.tenantId).transaction(endToEndId);
    const found = await transaction.catch((error: unknown) => {
      if (error instanceof ProblemError && error.problem.status === 404) return undefined;
      throw error;
    });
    transactions.push({ endToEndId, amount: found?.amount });
  }
  return transactions;
}

/** Requests the statements of the days on which the run began and ended. A run of over a day has others, which are not read. */
async function readStatements(
  clients: readonly Client[],
  sent: Evidence['sent'],
): Promise<Evidence['statements']> {
  const [first] = sent.values();
  const days = new Set([first?.sentAt ?? Date.now(), Date.now()].map(dayOf));
  const requests = [...days].flatMap((day) => clients.map((client) => client.statement(day)));
  return (await Promise.all(requests)).flatMap(({ webhooks }) => webhooks);
}

/** Waits until the workers are done or stalled, and stops them. Waits likewise for query-api, then reads all evidence. */
export async function gatherEvidence(
  world: Pick<World, 'stack' | 'clientOf' | 'arrivalsFile'>,
  seen: Pick<Evidence, 'changes' | 'sent' | 'steps' | 'redelivered'>,
): Promise<Evidence> {
  await untilDone(() => countUnhandled(world.stack));
  await Promise.all(WORKERS.map((name) => world.stack.fleet.stop(name)));
  await untilDone(() => countUnprojected(world));
  const clients = TENANTS.map((tenantId) => world.clientOf(tenantId));
  const lists = await Promise.all(clients.map((client) => client.list()));
  const listed = lists.flatMap(({ data }) =>
    data.map(({ ref, enabled, endpointUrl }) => ({ ref, enabled, path: new URL(endpointUrl).pathname })),
  );
  return {
    ...seen,
    configurations: planConfigurations(),
    arrivals: await readArrivals(world.arrivalsFile),
    topics: await readTopics(world.stack),
    log: await readLog(clients, seen.sent),
    transactions: await readTransactions(world, seen.sent),
    statements: await readStatements(clients, seen.sent),
    listed,
    schedule: { delaysMs: RETRY_DELAYS_MS, jitter: RETRY_JITTER },
  };
}
