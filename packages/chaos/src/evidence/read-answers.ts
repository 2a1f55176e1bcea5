import { ProblemError } from '@webhooks/client';
import type { Client, DeliverySummary } from '@webhooks/client';
import type { SentEvent } from '../generator/journal.js';
import type { BegunRedelivery } from '../world/redeliver.js';
import type { AskedTransaction, ListedConfiguration, LoggedStatus, RedeliverySeen } from './evidence.js';

type Clients = readonly Client[];

const PAGE = 200;

async function* deliveriesOf(client: Client): AsyncGenerator<DeliverySummary> {
  let cursor: string | undefined;
  do {
    const page = await client.deliveries({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** The delivery log of all tenants, page by page. */
export async function readLog(clients: Clients): Promise<ReadonlyMap<string, LoggedStatus>> {
  const log = new Map<string, LoggedStatus>();
  for (const client of clients)
    for await (const { deliveryId, status } of deliveriesOf(client)) log.set(deliveryId, status);
  return log;
}

/** The amount that query-api knows; undefined when it says 404. */
async function askAmount(client: Client, endToEndId: string): Promise<string | undefined> {
  try {
    return (await client.transaction(endToEndId)).amount;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 404) return undefined;
    throw error;
  }
}

/** Asks for the transactions of some of the accepted payments, evenly chosen; reversals have none of their own. */
export async function askTransactions(
  clientOf: (tenantId: string) => Client,
  sent: ReadonlyMap<string, SentEvent>,
  count: number,
): Promise<readonly AskedTransaction[]> {
  const payments = [...sent.values()].filter(
    ({ event, acceptedAt }) => acceptedAt !== undefined && event.eventType !== 'PIX_REVERSAL',
  );
  const every = Math.max(1, Math.ceil(payments.length / count));
  const asked: AskedTransaction[] = [];
  for (const { event } of payments.filter((_, index) => index % every === 0)) {
    const { endToEndId } = event.data;
    asked.push({ endToEndId, amount: await askAmount(clientOf(event.tenantId), endToEndId) });
  }
  return asked;
}

/** The configurations of all tenants as config-api lists them. */
export async function readConfigurations(clients: Clients): Promise<readonly ListedConfiguration[]> {
  const lists = await Promise.all(clients.map((client) => client.list()));
  return lists.flatMap(({ data }) =>
    data.map(({ ref, enabled, endpointUrl }) => ({ ref, enabled, path: new URL(endpointUrl).pathname })),
  );
}

/** The jobs that were begun, as query-api tells of them. */
export async function readRedeliveries(
  clientOf: (tenantId: string) => Client,
  begun: readonly BegunRedelivery[],
): Promise<readonly RedeliverySeen[]> {
  const jobs = await Promise.all(begun.map(({ id, tenantId }) => clientOf(tenantId).redelivery(id)));
  return jobs.map(({ id, state, matched, refused, expired }) => ({
    ...{ cycle: `r${id}`, state, matched, refused, expired },
  }));
}
