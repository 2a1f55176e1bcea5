import type { EventType } from '@webhooks/contracts';
import type { ArrivalLine } from '../endpoint/reply.js';

/** Whose events, and of which type. A run whose events have one type names none. */
interface Route {
  readonly tenantId: string;
  readonly eventType?: EventType;
}

/** One event that was acknowledged. Times are of the receiver's clock; absent where no latency is computed. */
export interface Acceptance extends Route {
  readonly id: string;
  /** When the schedule wanted it sent; in a flood: when it was sent. */
  readonly dueAt?: number;
  /** When it was acknowledged; when it was sent where nobody acknowledges. */
  readonly acknowledgedAt?: number;
}

/** One arrival at the receiver. `status` 0: it got no ordinary response. */
export type Receipt = Pick<ArrivalLine, 'id' | 'path' | 'status' | 'receivedAt'>;

/** An endpoint of a run: every accepted event of its tenant and type is owed to it. */
export interface OwedEndpoint extends Route {
  readonly path: string;
}

/** What one endpoint is owed, and what it got. */
const openAccount = <E extends OwedEndpoint>(endpoint: E, owed: number) => ({
  ...{ endpoint, owed },
  /** When each event first got a 2xx, by its index. */
  arrivals: new Map<number, number>(),
  /** Further 2xx for an event that had one. */
  duplicates: 0,
  /** Arrivals that got another response, or none. */
  refused: 0,
  /** Times between a refused arrival and the next one of the same event. */
  retryWaits: [] as number[],
  /** When the last arrival of an event was refused, by its index. */
  refusedAt: new Map<number, number>(),
});
export type EndpointAccount<E extends OwedEndpoint = OwedEndpoint> = ReturnType<typeof openAccount<E>>;

/** Which pairs a question is about: by path, and by when the event was due (from, before). */
export interface Selection {
  readonly isPath?: (path: string) => boolean;
  readonly due?: readonly [number, number];
}

const routeOf = ({ tenantId, eventType }: Route): string => `${tenantId} ${eventType ?? ''}`;
const keyOf = (route: Route, id: string): string => `${routeOf(route)} ${id}`;

/** Compares what was acknowledged with what arrived. A pair is one (event, endpoint), owed once however often it was accepted. */
export class DeliveryAccount<E extends OwedEndpoint = OwedEndpoint> {
  readonly accounts: readonly EndpointAccount<E>[];
  /** Acknowledged events that nobody is owed. */
  readonly unmatched: number;
  /** Arrivals at endpoints of this run that were not owed to them. */
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
      // Without one it is a path of another run, whose endpoints may still get what they are owed.
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

  /** How many deliveries these endpoints are owed and did not get yet. */
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

  /** What was owed, and when it was delivered: undefined when it was not. */
  *pairs({ isPath = () => true, due: [from, before] = [0, Infinity] }: Selection = {}) {
    const isDue = ({ dueAt = 0 }: Acceptance): boolean => dueAt >= from && dueAt < before;
    for (const { endpoint, arrivals } of this.accounts.filter(({ endpoint }) => isPath(endpoint.path))) {
      const route = routeOf(endpoint);
      for (const [index, event] of this.#events.entries())
        if (routeOf(event) === route && isDue(event))
          yield { event, endpoint, arrivedAt: arrivals.get(index) };
    }
  }

  /** Times until the delivery, counted from the acknowledgement or from when the event was due. */
  latencies(since: 'acknowledgedAt' | 'dueAt', selection?: Selection): readonly number[] {
    // A delivery may overtake its acknowledgement: it took no time then.
    return [...this.pairs(selection)].flatMap(({ event, arrivedAt }) =>
      arrivedAt === undefined ? [] : [Math.max(0, arrivedAt - (event[since] ?? 0))],
    );
  }

  /** When these deliveries arrived, in order. */
  arrivals(selection?: Selection): Float64Array {
    return Float64Array.from([...this.pairs(selection)].flatMap(({ arrivedAt }) => arrivedAt ?? [])).sort();
  }
}
export type Totals = ReturnType<DeliveryAccount['totals']>;
