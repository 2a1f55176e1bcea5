/** One event that was acknowledged. Times are monotonic microseconds. */
export interface Acceptance {
  readonly id: string;
  readonly tenantId: string;
  /** When the schedule wanted it sent; in a flood: when it was sent. */
  readonly dueAt: number;
  /** When it was acknowledged; when it was sent where nobody acknowledges. */
  readonly acknowledgedAt: number;
}

/** One arrival at the receiver. */
export interface Receipt {
  readonly id: string;
  readonly path: string;
  /** Status that it is answered with, perhaps later; 0: none. */
  readonly status: number;
  /** When the whole request was there, monotonic microseconds. */
  readonly arrivedAt: number;
}

/** An endpoint of a run: every accepted event of the tenant is owed to it. */
export interface OwedEndpoint {
  readonly path: string;
  readonly tenantId: string;
}

export interface Totals {
  /** Pairs of (event, endpoint) that were owed, and those of them that were answered with 2xx. */
  readonly accepted: number;
  readonly delivered: number;
  /** Further 2xx for a pair that had one. */
  readonly duplicates: number;
  /** Arrivals that were answered with something else, or not at all. */
  readonly refused: number;
  /** Arrivals at endpoints of this run that were not owed to them. */
  readonly strangers: number;
}

/** Which pairs a question is about: by path, and by when the event was due (from, before). */
export interface Selection {
  readonly isPath?: (path: string) => boolean;
  readonly due?: readonly [number, number];
}

const EVERYTHING: Required<Selection> = { isPath: () => true, due: [0, Infinity] };

/** A run without figures: its ledger does not balance, or it could not be finished. The message says why. */
export class VoidRun extends Error {
  override readonly name = 'VoidRun';
}

/** Why a run has no figures; undefined when its ledger balances. `waiting`: pairs that were found waiting in Kafka. */
export function voidReason({ accepted, delivered, strangers }: Totals, waiting = 0): string | undefined {
  if (accepted === 0) return 'nothing was accepted';
  if (strangers > 0) return `${strangers} arrivals were owed to nobody`;
  const missing = accepted - delivered - waiting;
  if (missing > 0) return `${missing} of ${accepted} deliveries are missing`;
  return missing < 0 ? `${-missing} deliveries are both delivered and waiting` : undefined;
}

interface Account {
  readonly tenantId: string;
  /** By index of the event; an event of another tenant has none. */
  readonly arrivals: Map<number, number>;
  owed: number;
}

/** Compares what was acknowledged with what arrived, event by event and endpoint by endpoint. */
export class RunLedger {
  readonly #acceptances: readonly Acceptance[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #accounts: ReadonlyMap<string, Account>;
  readonly #undue = { duplicates: 0, refused: 0, strangers: 0 };

  constructor(acceptances: readonly Acceptance[], endpoints: readonly OwedEndpoint[]) {
    this.#acceptances = acceptances;
    this.#indexOf = new Map(acceptances.map(({ id }, index) => [id, index]));
    const events = Map.groupBy(acceptances, ({ tenantId }) => tenantId);
    this.#accounts = new Map(
      endpoints.map(({ path, tenantId }) => [
        path,
        { tenantId, arrivals: new Map(), owed: events.get(tenantId)?.length ?? 0 },
      ]),
    );
  }

  note(receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      const account = this.#accounts.get(receipt.path);
      // Without one it is a path of another run, whose endpoints may still get what they are owed.
      if (account) this.#noteAt(account, receipt);
    }
  }

  #noteAt({ tenantId, arrivals }: Account, { id, status, arrivedAt }: Receipt): void {
    const index = this.#indexOf.get(id);
    if (index === undefined || this.#acceptances[index]?.tenantId !== tenantId) this.#undue.strangers += 1;
    else if (status < 200 || status > 299) this.#undue.refused += 1;
    else if (arrivals.has(index)) this.#undue.duplicates += 1;
    else arrivals.set(index, arrivedAt);
  }

  /** How many deliveries these endpoints are owed and did not get yet. */
  missing(isPath: (path: string) => boolean): number {
    let missing = 0;
    for (const [path, { owed, arrivals }] of this.#accounts)
      if (isPath(path)) missing += owed - arrivals.size;
    return missing;
  }

  totals(): Totals {
    const accounts = [...this.#accounts.values()];
    return {
      accepted: accounts.reduce((sum, { owed }) => sum + owed, 0),
      delivered: accounts.reduce((sum, { arrivals }) => sum + arrivals.size, 0),
      ...this.#undue,
    };
  }

  /** What was owed, and when it was delivered: undefined when it was not. */
  *pairs(selection: Selection = {}) {
    const { isPath, due } = { ...EVERYTHING, ...selection };
    for (const [path, { tenantId, arrivals }] of this.#accounts) {
      if (!isPath(path)) continue;
      for (const [index, event] of this.#acceptances.entries()) {
        if (event.tenantId !== tenantId || event.dueAt < due[0] || event.dueAt >= due[1]) continue;
        yield { event, path, arrivedAt: arrivals.get(index) };
      }
    }
  }

  /** Times until the delivery, counted from the acknowledgement or from when the event was due. */
  latencies(since: 'acknowledgedAt' | 'dueAt', selection?: Selection): readonly number[] {
    // A delivery may overtake its acknowledgement: it took no time then.
    return [...this.pairs(selection)].flatMap(({ event, arrivedAt }) =>
      arrivedAt === undefined ? [] : [Math.max(0, arrivedAt - event[since])],
    );
  }

  /** When these deliveries arrived, in order. */
  arrivals(selection?: Selection): Float64Array {
    return Float64Array.from([...this.pairs(selection)].flatMap(({ arrivedAt }) => arrivedAt ?? [])).sort();
  }
}
