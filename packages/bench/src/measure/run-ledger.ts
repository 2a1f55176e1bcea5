import { Histogram } from './histogram.js';
import type { Acceptance } from '../load/acceptance-file.js';
import type { Receipt } from '../receiver/receipt-file.js';

/** An endpoint of a run: every accepted event of the tenant is owed to it. */
export interface OwedEndpoint {
  readonly path: string;
  readonly tenantId: string;
}

export interface Totals {
  /** Pairs of (event, configuration) that were owed, and those of them that were answered with 2xx. */
  readonly accepted: number;
  readonly delivered: number;
  /** Further 2xx for a pair that had one. */
  readonly duplicates: number;
  /** Arrivals that were answered with something else, or not at all. */
  readonly refused: number;
  /** Arrivals at endpoints of this run that were not owed to them. */
  readonly strangers: number;
}

interface Account {
  readonly tenantId: string;
  readonly delivered: Uint8Array;
  readonly firstByteAt: Float64Array;
}

/** Which time a latency is counted from: Kafka's (or ingest's) acknowledgement, or the moment at which the event was due. */
export type Since = 'acknowledged' | 'due';

/** Events that were due from the first moment on and before the second; monotonic microseconds. */
export type DueBetween = readonly [number, number];
const EVER: DueBetween = [0, Infinity];

/**
 * Holds what was acknowledged against what the receivers wrote down, event by event and endpoint by endpoint. All
 * acceptances are known before the first receipt is noted. Times are monotonic microseconds.
 */
export class RunLedger {
  readonly acceptances: readonly Acceptance[];
  readonly #indexOf = new Map<string, number>();
  readonly #accounts: ReadonlyMap<string, Account>;
  #duplicates = 0;
  #refused = 0;
  #strangers = 0;
  #lastAt = 0;

  constructor(acceptances: readonly Acceptance[], endpoints: readonly OwedEndpoint[]) {
    this.acceptances = acceptances;
    for (const [index, { id }] of acceptances.entries()) this.#indexOf.set(id, index);
    this.#accounts = new Map(
      endpoints.map(({ path, tenantId }) => [
        path,
        {
          tenantId,
          delivered: new Uint8Array(acceptances.length),
          firstByteAt: new Float64Array(acceptances.length),
        },
      ]),
    );
  }

  note({ id, path, status, firstByteAt }: Receipt): void {
    const account = this.#accounts.get(path);
    // A path of another run, whose endpoints may still get what they are owed.
    if (!account) return;
    const index = this.#indexOf.get(id);
    if (index === undefined || this.acceptances[index]?.tenantId !== account.tenantId) {
      this.#strangers += 1;
      return;
    }
    if (status < 200 || status > 299) this.#refused += 1;
    else if (account.delivered[index] === 1) this.#duplicates += 1;
    else this.#deliver(account, index, firstByteAt);
  }

  #deliver(account: Account, index: number, firstByteAt: number): void {
    account.delivered[index] = 1;
    account.firstByteAt[index] = firstByteAt;
    this.#lastAt = Math.max(this.#lastAt, firstByteAt);
  }

  /** First byte of the delivery that came last; 0 before the first one. */
  get lastAt(): number {
    return this.#lastAt;
  }

  totals(): Totals {
    let [accepted, delivered] = [0, 0];
    for (const pair of this.pairs()) {
      accepted += 1;
      if (pair.firstByteAt !== undefined) delivered += 1;
    }
    return {
      accepted,
      delivered,
      duplicates: this.#duplicates,
      refused: this.#refused,
      strangers: this.#strangers,
    };
  }

  /** Every owed (event, endpoint), with the time of its delivery when there was one. */
  *pairs(
    isWanted: (path: string) => boolean = () => true,
  ): Generator<{ readonly event: Acceptance; readonly path: string; readonly firstByteAt?: number }> {
    for (const [path, account] of this.#accounts) {
      if (!isWanted(path)) continue;
      for (const [index, event] of this.acceptances.entries()) {
        if (event.tenantId !== account.tenantId) continue;
        const delivered = account.delivered[index] === 1;
        yield { event, path, ...(delivered ? { firstByteAt: account.firstByteAt[index] ?? 0 } : {}) };
      }
    }
  }

  /** One histogram for each endpoint, to be pooled: time until the first byte of the request whose answer was 2xx. */
  latencies(
    since: Since,
    isWanted?: (path: string) => boolean,
    [from, until] = EVER,
  ): ReadonlyMap<string, Histogram> {
    const histograms = new Map<string, Histogram>();
    for (const { event, path, firstByteAt } of this.pairs(isWanted)) {
      if (firstByteAt === undefined || event.dueAt < from || event.dueAt >= until) continue;
      const histogram = histograms.get(path) ?? new Histogram();
      histograms.set(path, histogram);
      histogram.record(firstByteAt - (since === 'due' ? event.dueAt : event.acknowledgedAt));
    }
    return histograms;
  }
}
