import type { Client, DeliveryList, DeliverySummary } from '@webhooks/client';
import type { DynamicPaidData, PaymentEvent } from '@webhooks/contracts';
import { BENCH_EVENT_TYPE } from './make-events.js';
import { plannedDelivery } from './make-log.js';
import type { LogPlan, PlannedDelivery } from './make-log.js';

type QueryClient = Pick<Client, 'charge' | 'transaction' | 'deliveries' | 'delivery' | 'health'>;

/** A query that query-api documents, asked for something else each turn; resolves with whether the answer is right. */
export interface LogQuery {
  readonly name: string;
  readonly ask: (client: QueryClient, turn: number) => Promise<boolean>;
}

/** Turns jump through the log: a prime, so that they come by everything. */
const STRIDE = 7_919;
/** Half of the span of a question about a time range. */
const AROUND_MS = 300_000;
/** Page of a list when nothing is said. */
const LIMIT = 50;

/** Whether a list has something, at most a page, and nothing but what was asked for. */
const isOf = ({ data, results }: DeliveryList, isMeant: (row: DeliverySummary) => boolean): boolean =>
  results > 0 && results <= LIMIT && data.length === results && data.every(isMeant);

const utc = (ms: number): string => new Date(ms).toISOString();

type KnownAt = (turn: number) => PlannedDelivery;
const statusAt = (turn: number): 'delivered' | 'dead' => (turn % 2 === 0 ? 'delivered' : 'dead');

const listsOf = (known: KnownAt): readonly LogQuery[] => [
  {
    name: 'list by ref',
    ask: async (client, turn) => {
      const { ref } = known(turn);
      return isOf(await client.deliveries({ ref }), (row) => row.ref === ref);
    },
  },
  {
    name: 'list by ref and status',
    ask: async (client, turn) => {
      const filter = { ref: known(turn).ref, status: statusAt(turn) };
      const isMeant = ({ ref, status }: DeliverySummary) => ref === filter.ref && status === filter.status;
      return isOf(await client.deliveries(filter), isMeant);
    },
  },
  {
    name: 'list by ref and time range',
    ask: async (client, turn) => {
      const { ref, createdAt } = known(turn);
      const [from, to] = [utc(createdAt - AROUND_MS), utc(createdAt + AROUND_MS)];
      const isMeant = (row: DeliverySummary) =>
        row.ref === ref && row.createdAt >= from && row.createdAt < to;
      return isOf(await client.deliveries({ ref, from, to }), isMeant);
    },
  },
  {
    name: 'list by event',
    ask: async (client, turn) => {
      const { eventId } = known(turn);
      const list = await client.deliveries({ eventId });
      return list.results === 2 && isOf(list, (row) => row.eventId === eventId);
    },
  },
  {
    name: 'list by event type',
    ask: async (client, turn) => {
      const { eventType } = known(turn);
      return isOf(await client.deliveries({ eventType }), (row) => row.eventType === eventType);
    },
  },
  {
    name: 'list by status',
    ask: async (client, turn) => {
      const status = statusAt(turn);
      return isOf(await client.deliveries({ status }), (row) => row.status === status);
    },
  },
];

const knownOf =
  (plan: LogPlan): KnownAt =>
  (turn) =>
    plannedDelivery(plan, (turn * STRIDE) % plan.deliveries);

/** Every documented query of deliveries, of a log that was made as planned. */
export function queriesOfLog(plan: LogPlan): readonly LogQuery[] {
  const known = knownOf(plan);
  return [
    ...listsOf(known),
    {
      name: 'one delivery',
      ask: async (client, turn) => {
        const { deliveryId, status, attempts } = known(turn);
        const found = await client.delivery(deliveryId);
        return found.status === status && found.attempts.length === attempts;
      },
    },
  ];
}

/** The health of the endpoints of a log. */
export function queriesOfHealth(plan: LogPlan): readonly LogQuery[] {
  const known = knownOf(plan);
  return [
    {
      name: 'health of an endpoint',
      ask: async (client, turn) => {
        const { ref } = known(turn);
        const health = await client.health(ref);
        return health.ref === ref && health.lastDay.attempts > 0;
      },
    },
  ];
}

/** The queries of the specification, about payments of dynamic charges. */
export function queriesOfEvents(events: readonly PaymentEvent[]): readonly LogQuery[] {
  const known = (turn: number): DynamicPaidData => {
    const event = events[(turn * STRIDE) % events.length];
    if (event?.eventType !== BENCH_EVENT_TYPE) throw new Error(`expected events of ${BENCH_EVENT_TYPE}`);
    return event.data;
  };
  return [
    {
      name: 'charge by txId',
      ask: async (client, turn) => {
        const { txId, amount } = known(turn);
        const charge = await client.charge(txId);
        return charge.txId === txId && charge.status === 'CONCLUIDA' && charge.amount === amount;
      },
    },
    {
      name: 'transaction by endToEndId',
      ask: async (client, turn) => {
        const { endToEndId, amount } = known(turn);
        const transaction = await client.transaction(endToEndId);
        return transaction.endToEndId === endToEndId && transaction.amount === amount;
      },
    },
  ];
}
