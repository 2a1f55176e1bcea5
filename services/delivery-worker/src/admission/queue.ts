import type { EndpointState, Queued, TenantState } from './endpoint-state.js';

/** Longest wait in memory, milliseconds: a deferral takes a second, and two writes. */
export const SOJOURN_MS = 2_000;
/** Who may expect to wait no longer, milliseconds, may wait however full the memory is: 256 are read in it at 1,000 a second. */
const SHORT_MS = 250;
/** Most of the memory that one endpoint, or one tenant, may fill while others have something in it. */
const SHARE = 2 / 3;

/** How long one more would wait, milliseconds: as fast as the endpoint has been lately, and since when it has ended nothing. */
export interface ExpectedWait {
  readonly byPaceMs: number;
  readonly stalledMs: number;
  /** It was idle a moment ago: what its first attempts take, with a handshake each, says little about the next ones. */
  readonly isNew: boolean;
}

/**
 * The deliveries that wait in memory, a queue for each endpoint: bounded in time (a deadline of sojourn, as CoDel, RFC 8289),
 * and all together in number. Tenants take turns, then their endpoints (round robin, Nagle, RFC 970).
 */
export class WaitingQueue {
  readonly #limit: number;
  /** Those with a queue, in turn. */
  readonly #tenants = new Set<TenantState>();
  readonly #listeners: (() => void)[] = [];
  #wasFull = false;
  size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** To be looked at before a record of the live topics is taken. */
  get isFree(): boolean {
    if (this.size >= this.#limit) this.#wasFull = true;
    return this.size < this.#limit;
  }

  /** From here on what comes from Kafka's tiers is deferred again: at the limit of the live topics retries would wait 30 s for their turn. */
  get isOverfull(): boolean {
    return this.size >= 2 * this.#limit;
  }

  /** `call` is called each time there is room again after there was none. */
  onFree(call: () => void): void {
    this.#listeners.push(call);
  }

  /**
   * Whether one more may wait there, while so many attempts are `busy` at all endpoints. The fuller the memory is, the shorter
   * the wait may be: it never fills with what waits for slow endpoints. When it is full the live topics wait.
   *
   * Beyond the four rules is the share of an endpoint and of a tenant: the simulations "one endpoint that is sent more than it
   * takes" and "one that brings 90 %" fail without it. `isNew` and `SHORT_MS` are needed by "in a burst, and alone".
   */
  mayPush(endpoint: EndpointState, wait: ExpectedWait, busy: number): boolean {
    if (wait.stalledMs > this.deadlineMs) return false;
    if (wait.byPaceMs > Math.max(wait.isNew ? SOJOURN_MS : SHORT_MS, this.deadlineMs)) return false;
    const { tenant } = endpoint;
    return !(
      this.#isOverShare(endpoint.queue.length, endpoint.busy, busy) ||
      this.#isOverShare(tenant.queued, tenant.busy, busy)
    );
  }

  /** How long whoever waits for a stalled endpoint may wait, milliseconds. */
  get deadlineMs(): number {
    const freeShare = Math.max(0, 1 - this.size / this.#limit);
    return SOJOURN_MS * freeShare * freeShare;
  }

  /** Endpoints with a queue. */
  *endpoints(): Iterable<EndpointState> {
    for (const { queueing } of [...this.#tenants]) yield* [...queueing];
  }

  push(endpoint: EndpointState, queued: Queued): void {
    endpoint.queue.push(queued);
    endpoint.tenant.queueing.add(endpoint);
    endpoint.tenant.queued += 1;
    this.#tenants.add(endpoint.tenant);
    this.size += 1;
  }

  /** The next in turn whose endpoint may start one: it, and its tenant, stand behind the others then. */
  next(mayStart: (endpoint: EndpointState) => boolean): EndpointState | undefined {
    for (const tenant of this.#tenants) {
      for (const endpoint of tenant.queueing) {
        if (!mayStart(endpoint)) continue;
        tenant.queueing.delete(endpoint);
        tenant.queueing.add(endpoint);
        this.#tenants.delete(tenant);
        this.#tenants.add(tenant);
        return endpoint;
      }
    }
    return undefined;
  }

  /** Takes the oldest of this endpoint. */
  shift(endpoint: EndpointState): Queued | undefined {
    const queued = endpoint.queue.shift();
    if (queued === undefined) return undefined;
    this.size -= 1;
    endpoint.tenant.queued -= 1;
    if (endpoint.queue.isEmpty()) {
      endpoint.tenant.queueing.delete(endpoint);
      if (endpoint.tenant.queueing.size === 0) this.#tenants.delete(endpoint.tenant);
    }
    return queued;
  }

  /** To be called when some have left: once for all of them. */
  notify(): void {
    if (!this.#wasFull || this.size >= this.#limit) return;
    this.#wasFull = false;
    for (const call of this.#listeners) call();
  }

  /** Whether it fills more than its share, and is not alone. */
  #isOverShare(queued: number, ownBusy: number, busy: number): boolean {
    return queued > this.#limit * SHARE && queued + ownBusy < this.size + busy;
  }
}
