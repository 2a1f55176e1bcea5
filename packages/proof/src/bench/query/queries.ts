import type { Client, DeliveryFilter, DeliverySummary } from '@webhooks/client';
import type { DynamicPaidData, PaymentEvent } from '@webhooks/contracts';
import { BENCH_EVENT_TYPE } from '../load/generator.js';
import { plannedDelivery } from './attempt-log.js';
import type { LogPlan, PlannedDelivery } from './attempt-log.js';

type QueryClient = Pick<Client, 'charge' | 'transaction' | 'deliveries' | 'delivery' | 'health'>;

/** A documented query of query-api. Each turn queries another item. `run` resolves with whether the response is right. */
export interface DocumentedQuery {
  readonly name: string;
  /** True for a list: it may read much of the embedded database, which cannot sort by an index. */
  readonly isList?: true;
  readonly run: (turn: number) => Promise<boolean>;
}

/** Step between the items of two queries. A prime, so that every item has its turn. */
export const STRIDE = 7_919;
/** Half of the time range of a query, in milliseconds. */
const AROUND_MS = 300_000;
/** Default page size of a list. */
const LIMIT = 50;

const utc = (ms: number): string => new Date(ms).toISOString();
const statusAt = (turn: number): 'delivered' | 'dead' => (turn % 2 === 0 ? 'delivered' : 'dead');

/** Whether a row matches a filter. */
const matchesFilter = (row: DeliverySummary, { from = '', to = '~', ...filter }: DeliveryFilter): boolean =>
  row.createdAt >= from &&
  row.createdAt < to &&
  Object.entries(filter).every(([name, value]) => row[name as keyof DeliverySummary] === value);

/** Returns every documented query of deliveries, and the one of an endpoint's health. */
export function queriesOfLog(client: QueryClient, plan: LogPlan): readonly DocumentedQuery[] {
  const known = (turn: number): PlannedDelivery => plannedDelivery(plan, (turn * STRIDE) % plan.deliveries);
  const list = (name: string, filterOf: (delivery: PlannedDelivery, turn: number) => DeliveryFilter) => ({
    name: `list by ${name}`,
    isList: true as const,
    run: async (turn: number) => {
      const filter = filterOf(known(turn), turn);
      const { data, results } = await client.deliveries(filter);
      const isPage = results > 0 && results <= LIMIT && data.length === results;
      return isPage && data.every((row) => matchesFilter(row, filter));
    },
  });
  return [
    list('ref', ({ ref }) => ({ ref })),
    list('ref and status', ({ ref }, turn) => ({ ref, status: statusAt(turn) })),
    list('ref and time range', ({ ref, createdAt }) => ({
      ref,
      from: utc(createdAt - AROUND_MS),
      to: utc(createdAt + AROUND_MS),
    })),
    list('event', ({ eventId }) => ({ eventId })),
    list('event type', ({ eventType }) => ({ eventType })),
    list('status', (_, turn) => ({ status: statusAt(turn) })),
    {
      name: 'one delivery',
      run: async (turn) => {
        const { deliveryId, status, attempts } = known(turn);
        const found = await client.delivery(deliveryId);
        return found.status === status && found.attempts.length === attempts;
      },
    },
    {
      name: 'health of an endpoint',
      run: async (turn) => {
        const { ref } = known(turn);
        const health = await client.health(ref);
        return health.ref === ref && health.lastDay.attempts > 0;
      },
    },
  ];
}

/** Returns the queries of paid dynamic charges. Each charge has one event, which was delivered once. */
export function queriesOfEvents(
  client: QueryClient,
  events: readonly PaymentEvent[],
): readonly DocumentedQuery[] {
  const known = (turn: number): DynamicPaidData => {
    const event = events[(turn * STRIDE) % events.length];
    if (event?.eventType !== BENCH_EVENT_TYPE) throw new Error(`expected events of ${BENCH_EVENT_TYPE}`);
    return event.data;
  };
  return [
    {
      name: 'charge by txId',
      run: async (turn) => {
        const { txId, amount } = known(turn);
        const charge = await client.charge(txId);
        return charge.txId === txId && charge.status === 'CONCLUIDA' && charge.amount === amount;
      },
    },
    {
      name: 'transaction by endToEndId',
      run: async (turn) => {
        const { endToEndId, amount } = known(turn);
        const transaction = await client.transaction(endToEndId);
        return transaction.endToEndId === endToEndId && transaction.amount === amount;
      },
    },
    {
      name: 'deliveries by endToEndId',
      run: async (turn) => (await client.deliveries({ endToEndId: known(turn).endToEndId })).results === 1,
    },
    {
      name: 'deliveries by txId',
      run: async (turn) => (await client.deliveries({ txId: known(turn).txId })).results === 1,
    },
  ];
}
