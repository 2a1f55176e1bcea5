import type { EndpointState, Queued, TenantState } from './endpoint-state.js';

/** Longest wait in memory, milliseconds: a deferral takes a second, and two writes. */
export const SOJOURN_MS = 2_000;
/** Who may expect to wait no longer, milliseconds, may wait however full the memory is: 256 are read in it at 1,000 a second. */
const SHORT_MS = 250;
/** An endpoint that has all attempts it may have holds twice what is free (dynamic threshold, as of the slots): so some is always left. */
const ENDPOINT_SHARE = 2;
/** Most of the memory that a tenant may fill while others have something in it. */
const TENANT_SHARE = 2 / 3;

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
  /** Those that come from Kafka's tiers. */
  #returned = 0;
  size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** To be looked at before a record of the live topics is taken. What comes from Kafka's tiers has as much for itself: neither keeps the other out. */
  get isFree(): boolean {
    const free = this.#freeFor(false) > 0;
    if (!free) this.#wasFull = true;
    return free;
  }

  #freeFor(returned: boolean): number {
    return this.#limit - (returned ? this.#returned : this.size - this.#returned);
  }

  /** `call` is called each time there is room again after there was none. */
  onFree(call: () => void): void {
    this.#listeners.push(call);
  }

  /**
   * Whether one more may wait there, while so many attempts are `busy` at all endpoints. The fuller the memory is, the shorter
   * the wait may be: it never fills with what waits for slow endpoints. When it is full the live topics wait.
   *
   * Beyond the four rules are the shares: of an endpoint, without which "endpoints of as many tenants that are sent more than they take" fails,
   * and of a tenant, for "one that brings 90 %". `isNew` and `SHORT_MS` are needed by "in a burst, and alone".
   */
  mayPush(endpoint: EndpointState, wait: ExpectedWait, busy: number, returned: boolean): boolean {
    const free = this.#freeFor(returned);
    if (returned && free <= 0) return false;
    if (wait.stalledMs > this.deadlineMs) return false;
    if (wait.byPaceMs > Math.max(wait.isNew ? SOJOURN_MS : SHORT_MS, this.deadlineMs)) return false;
    return !this.#isOverShare(endpoint, busy, free) && !this.#isTenantOverShare(endpoint.tenant, busy);
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
    if (queued.returned) this.#returned += 1;
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
    if (queued.returned) this.#returned -= 1;
    endpoint.tenant.queued -= 1;
    if (endpoint.queue.isEmpty()) {
      endpoint.tenant.queueing.delete(endpoint);
      if (endpoint.tenant.queueing.size === 0) this.#tenants.delete(endpoint.tenant);
    }
    return queued;
  }

  /** To be called when some have left: once for all of them. */
  notify(): void {
    if (!this.#wasFull || this.#freeFor(false) <= 0) return;
    this.#wasFull = false;
    for (const call of this.#listeners) call();
  }

  #isOverShare({ queue, limit, busy: own }: EndpointState, busy: number, free: number): boolean {
    return own >= limit && queue.length > ENDPOINT_SHARE * free && !this.#isAlone(queue.length + own, busy);
  }

  #isTenantOverShare({ queued, busy: own }: TenantState, busy: number): boolean {
    return queued > TENANT_SHARE * this.#limit && !this.#isAlone(queued + own, busy);
  }

  /** Whether all that waits or is under way is its own. */
  #isAlone(own: number, busy: number): boolean {
    return own >= this.size + busy;
  }
}
