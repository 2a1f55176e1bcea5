import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError } from '@webhooks/client';
import type { Client, DeliveryFilter, DeliverySummary } from '@webhooks/client';
import { areZero, readLags } from '@webhooks/ledger';
import { readJournal } from '../generator/journal.js';
import type { SentEvent } from '../generator/journal.js';
import { TENANTS, planConfigurations } from '../world/configurations.js';
import { RETRY_DELAYS_MS, RETRY_JITTER } from '../world/settings.js';
import { WORKERS } from '../world/world.js';
import type { World } from '../world/world.js';
import type { Evidence, ListedConfiguration, LoggedStatus, SeenTransaction } from './evidence.js';
import { readArrivals } from './read-arrivals.js';
import { countOpen, readTopics } from './read-topics.js';

const LOOK_MS = 500;
/** Where nothing changes for so long, all stands still. On two cores that others used too, one batch of query-api took 100 s. */
const STALLED_MS = 300_000;
/** On a small machine query-api may be behind by several times the length of the run. */
const DEADLINE_MS = 1_800_000;
/** One look at nothing proves nothing: what was written last may not have been fetched yet. */
const LOOKS = 4;
const PAGE = 200;
/** A page costs the embedded database a look at all that its time range holds: 13 pages of 500/s. */
const RANGE_MS = 5_000;
/** Transactions that are requested, at most. */
const TRANSACTIONS = 200;

/** Looks until nothing is left, several times in a row, or until all stands still. Whoever does not respond has something left. */
async function untilNone(countLeft: () => Promise<number>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  let last = Number.NaN;
  let changedAt = performance.now();
  for (let looks = 0; looks < LOOKS;) {
    await delay(LOOK_MS);
    const left = await countLeft().catch(() => Number.POSITIVE_INFINITY);
    looks = left === 0 ? looks + 1 : 0;
    if (left !== last) changedAt = performance.now();
    last = left;
    const now = performance.now();
    if (now > deadline || now - changedAt > STALLED_MS) return;
  }
}

/** Records that query-api has not projected yet. */
async function countUnprojected({ stack }: World): Promise<number> {
  const lags = await readLags(stack.description().admin['query-api']);
  return areZero(lags) ? 0 : lags.reduce((sum, { records }) => sum + records, 1);
}

async function* deliveriesOf(client: Client, range: DeliveryFilter): AsyncGenerator<DeliverySummary> {
  let cursor: string | undefined;
  do {
    const page = await client.deliveries({
      ...range,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** The delivery log of all tenants since the first event, page by page. */
async function readLog(
  clients: readonly Client[],
  sent: Evidence['sent'],
): Promise<ReadonlyMap<string, LoggedStatus>> {
  const log = new Map<string, LoggedStatus>();
  const [first] = sent.values();
  const end = Date.now();
  for (let at = first?.sentAt ?? end; at < end; at += RANGE_MS) {
    const range = { from: new Date(at).toISOString(), to: new Date(at + RANGE_MS).toISOString() };
    for (const client of clients)
      for await (const { deliveryId, status } of deliveriesOf(client, range)) log.set(deliveryId, status);
  }
  return log;
}

/** The amount that query-api knows; undefined when it says 404. */
async function amountOf(client: Client, endToEndId: string): Promise<string | undefined> {
  try {
    return (await client.transaction(endToEndId)).amount;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 404) return undefined;
    throw error;
  }
}

/** Transactions of some of the accepted payments, evenly chosen; reversals have none of their own. */
async function readTransactions(
  { clientOf }: World,
  sent: Evidence['sent'],
): Promise<readonly SeenTransaction[]> {
  const isPayment = ({ event, acceptedAt }: SentEvent): boolean =>
    acceptedAt !== undefined && event.eventType !== 'PIX_REVERSAL';
  const payments = [...sent.values()].filter(isPayment);
  const every = Math.ceil(payments.length / TRANSACTIONS);
  const transactions: SeenTransaction[] = [];
  for (const { event } of payments.filter((_, index) => index % every === 0)) {
    const { endToEndId } = event.data;
    transactions.push({ endToEndId, amount: await amountOf(clientOf(event.tenantId), endToEndId) });
  }
  return transactions;
}

/** The configurations of all tenants as config-api lists them. */
async function readConfigurations(clients: readonly Client[]): Promise<readonly ListedConfiguration[]> {
  const lists = await Promise.all(clients.map((client) => client.list()));
  return lists.flatMap(({ data }) =>
    data.map(({ ref, enabled, endpointUrl }) => ({ ref, enabled, path: new URL(endpointUrl).pathname })),
  );
}

/** Waits until workers and query-api are done, or get no further; stops the workers, and reads all that there is. */
export async function gatherEvidence(
  world: World,
  journalFile: string,
  { changes, steps }: Pick<Evidence, 'changes' | 'steps'>,
): Promise<Evidence> {
  await untilNone(() => countOpen(world.stack));
  await Promise.all(WORKERS.map((name) => world.stack.fleet.stop(name)));
  await untilNone(() => countUnprojected(world));
  const clients = TENANTS.map((tenantId) => world.clientOf(tenantId));
  const sent = await readJournal(journalFile);
  return {
    configurations: planConfigurations(),
    sent,
    arrivals: await readArrivals(world.arrivalsFile),
    changes,
    steps,
    topics: await readTopics(world.stack),
    log: await readLog(clients, sent),
    transactions: await readTransactions(world, sent),
    listed: await readConfigurations(clients),
    schedule: { delaysMs: RETRY_DELAYS_MS, jitter: RETRY_JITTER },
  };
}
