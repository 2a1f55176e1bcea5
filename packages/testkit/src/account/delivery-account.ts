import type { EventType } from '@webhooks/contracts';
import type { ArrivalLine } from '../endpoint/reply.js';

/** A tenant and an event type. Without a type, all events of the run have the same one. */
interface Route {
  readonly tenantId: string;
  readonly eventType?: EventType;
}

/** One acknowledged event. Times are of the receiver's clock, and absent where no latency is computed. */
export interface Acceptance extends Route {
  readonly id: string;
  /** The scheduled time of sending; without a schedule, the actual time. */
  readonly dueAt?: number;
  /** The time of the acknowledgement; for a query, when it was due. */
  readonly acknowledgedAt?: number;
}

/** One arrival at the receiver. `status` 0: no ordinary response was sent. */
export type Receipt = Pick<ArrivalLine, 'id' | 'path' | 'status' | 'receivedAt'>;

/** An endpoint of a run: every accepted event of its tenant and type is owed to it. */
export interface OwedEndpoint extends Route {
  readonly path: string;
}

/** Opens the account of one endpoint to which `owed` deliveries are owed. */
const openAccount = <E extends OwedEndpoint>(endpoint: E, owed: number) => ({
  ...{ endpoint, owed },
  /** When each event first got a 2xx, by its index. */
  arrivals: new Map<number, number>(),
  /** Responses with 2xx to an event after its first one. */
  duplicates: 0,
  /** Arrivals without a 2xx response. */
  refused: 0,
  /** Times between a refused arrival and the next one of the same event, in the unit of `receivedAt`. */
  retryWaits: [] as number[],
  /** When the last arrival of an event was refused, by its index. */
  refusedAt: new Map<number, number>(),
});
/** The deliveries that are owed to one endpoint, and the arrivals there. */
export type EndpointAccount<E extends OwedEndpoint = OwedEndpoint> = ReturnType<typeof openAccount<E>>;

/** Selects pairs by path, and by the due time of the event: from the first time, before the second. */
export interface Selection {
  readonly isPath?: (path: string) => boolean;
  readonly due?: readonly [number, number];
}

const routeOf = ({ tenantId, eventType }: Route): string => `${tenantId} ${eventType ?? ''}`;
const keyOf = (route: Route, id: string): string => `${routeOf(route)} ${id}`;

/** Compares acknowledged events with arrivals. A pair is one (event, endpoint). It is owed once, however often the event was accepted. */
export class DeliveryAccount<E extends OwedEndpoint = OwedEndpoint> {
  readonly accounts: readonly EndpointAccount<E>[];
  /** Number of acknowledged events that are owed to no endpoint. */
  readonly unmatched: number;
  /** Number of arrivals at endpoints of this run that were not owed to them. */
  #strangers = 0;
  readonly #events: readonly Acceptance[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #accountOf: ReadonlyMap<string, EndpointAccount<E>>;

  constructor(acceptances: readonly Acceptance[], endpoints: readonly E[]) {
    const distinct = new Map(acceptances.map((event) => [keyOf(event, event.id), event]));
    this.#events = [...distinct.values()];
    this.#indexOf = new Map([...distinct.keys()].map((key, index) => [key, index]));
    const owed = Map.groupBy(this.#events, routeOf);
    this.accounts = endpoints.map((endpoint) =>
      openAccount(endpoint, owed.get(routeOf(endpoint))?.length ?? 0),
    );
    this.#accountOf = new Map(this.accounts.map((account) => [account.endpoint.path, account]));
    const routes = new Set(endpoints.map(routeOf));
    this.unmatched = acceptances.filter((event) => !routes.has(routeOf(event))).length;
  }

  note(receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      const account = this.#accountOf.get(receipt.path);
      // A path without an account belongs to another run, whose deliveries may still arrive.
      if (account) this.#noteAt(account, receipt);
    }
  }

  #noteAt(account: EndpointAccount<E>, { id, status, receivedAt }: Receipt): void {
    const { endpoint, arrivals, refusedAt, retryWaits } = account;
    const index = this.#indexOf.get(keyOf(endpoint, id));
    if (index === undefined) {
      this.#strangers += 1;
      return;
    }
    const before = refusedAt.get(index);
    if (before !== undefined) retryWaits.push(receivedAt - before);
    refusedAt.delete(index);
    if (status < 200 || status > 299) {
      account.refused += 1;
      refusedAt.set(index, receivedAt);
    } else if (arrivals.has(index)) account.duplicates += 1;
    else arrivals.set(index, receivedAt);
  }

  /** Returns how many deliveries that are owed to these endpoints have not arrived yet. */
  missing(isPath: (path: string) => boolean): number {
    const wanted = this.accounts.filter(({ endpoint }) => isPath(endpoint.path));
    return wanted.reduce((sum, { owed, arrivals }) => sum + owed - arrivals.size, 0);
  }

  /** `accepted`: pairs that were owed; `delivered`: those of them that got a 2xx. */
  totals() {
    const sum = (of: (account: EndpointAccount<E>) => number): number =>
      this.accounts.reduce((total, account) => total + of(account), 0);
    return {
      accepted: sum(({ owed }) => owed),
      delivered: sum(({ arrivals }) => arrivals.size),
      duplicates: sum(({ duplicates }) => duplicates),
      refused: sum(({ refused }) => refused),
      strangers: this.#strangers,
    };
  }

  /** Yields each owed pair with the time of its first 2xx; undefined while it has none. */
  *pairs({ isPath = () => true, due: [from, before] = [0, Infinity] }: Selection = {}) {
    const isDue = ({ dueAt = 0 }: Acceptance): boolean => dueAt >= from && dueAt < before;
    for (const { endpoint, arrivals } of this.accounts.filter(({ endpoint }) => isPath(endpoint.path))) {
      const route = routeOf(endpoint);
      for (const [index, event] of this.#events.entries())
        if (routeOf(event) === route && isDue(event))
          yield { event, endpoint, arrivedAt: arrivals.get(index) };
    }
  }

  /** Returns the latency of each delivered pair, from the acknowledgement or from the due time of the event. */
  latencies(since: 'acknowledgedAt' | 'dueAt', selection?: Selection): readonly number[] {
    // A delivery may arrive before the acknowledgement. Its latency is then 0.
    return [...this.pairs(selection)].flatMap(({ event, arrivedAt }) =>
      arrivedAt === undefined ? [] : [Math.max(0, arrivedAt - (event[since] ?? 0))],
    );
  }

  /** Returns the arrival times of these deliveries, ascending. */
  arrivals(selection?: Selection): Float64Array {
    return Float64Array.from([...this.pairs(selection)].flatMap(({ arrivedAt }) => arrivedAt ?? [])).sort();
  }
}
export type Totals = ReturnType<DeliveryAccount['totals']>;
