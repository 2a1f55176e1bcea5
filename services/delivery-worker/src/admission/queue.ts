import { isReturned } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import type { EndpointState, Queued, TenantState } from './endpoint-state.js';

/** Longest wait in memory, milliseconds: a deferral takes a second, and two writes. */
const SOJOURN_MS = 2_000;
/** The same while the memory is full, milliseconds: a worker takes 256 in less, even one that is overloaded. */
const SHORT_MS = 150;
/** Most of the memory that one endpoint, or one tenant, may fill while others have something in it. */
const SHARE = 2 / 3;

/**
 * The deliveries that wait in memory, a queue for each endpoint: bounded in time (a deadline of sojourn, as CoDel, RFC 8289),
 * and all together in number. Tenants take turns, then their endpoints (round robin, Nagle, RFC 970).
 */
export class WaitingQueue {
  readonly #limit: number;
  /** Those with a queue, in turn. */
  readonly #tenants = new Set<TenantState>();
  readonly #listeners: (() => void)[] = [];
  size = 0;
  /** Of them, what comes from retry tiers: a third, so that what returns does not keep the live topics out. */
  #returned = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** To be looked at before a record of the live topics is taken. */
  get hasCapacity(): boolean {
    return this.size < this.#limit;
  }

  /** `call` is called when some have left, or may leave soon: look at `hasCapacity` again. */
  onCapacity(call: () => void): void {
    this.#listeners.push(call);
  }

  /** How long whoever waits may wait, milliseconds: the fuller the memory, the shorter. So it never stays full of what waits for slow endpoints. */
  get deadlineMs(): number {
    return Math.max(SHORT_MS, this.#stallDeadlineMs);
  }

  /**
   * Whether one more may wait there, while so many attempts are `busy` at all endpoints. Those of the live topics are held back by `hasCapacity`.
   *
   * Besides the deadline there is the share of an endpoint and of a tenant: the simulations "one endpoint that is sent more than it
   * takes" and "one that brings 90 %" fail without it.
   */
  mayPush(endpoint: EndpointState, task: DeliveryTask, stalledMs: number, busy: number): boolean {
    if (
      stalledMs > this.#stallDeadlineMs ||
      (isReturned(task) && this.#returned >= this.#limit * (1 - SHARE))
    )
      return false;
    const isOverShare = (queued: number, ownBusy: number): boolean =>
      queued > this.#limit * SHARE && queued + ownBusy < this.size + busy;
    const { queue, tenant } = endpoint;
    return !isOverShare(queue.length, endpoint.busy) && !isOverShare(tenant.queued, tenant.busy);
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
    if (isReturned(queued.task)) this.#returned += 1;
  }

  /** The next in turn whose endpoint may start one: it, and its tenant, stand behind the others then. */
  next(mayStart: (endpoint: EndpointState) => boolean): EndpointState | undefined {
    for (const tenant of this.#tenants)
      for (const endpoint of tenant.queueing) {
        if (!mayStart(endpoint)) continue;
        tenant.queueing.delete(endpoint);
        tenant.queueing.add(endpoint);
        this.#tenants.delete(tenant);
        this.#tenants.add(tenant);
        return endpoint;
      }
    return undefined;
  }

  /** Takes the oldest of this endpoint. */
  shift(endpoint: EndpointState): Queued | undefined {
    const queued = endpoint.queue.shift();
    if (queued === undefined) return undefined;
    const { tenant } = endpoint;
    this.size -= 1;
    if (isReturned(queued.task)) this.#returned -= 1;
    tenant.queued -= 1;
    if (endpoint.queue.isEmpty()) tenant.queueing.delete(endpoint);
    if (tenant.queueing.size === 0) this.#tenants.delete(tenant);
    return queued;
  }

  /** To be called when some may have left: once for all of them. */
  notify(): void {
    for (const call of this.#listeners) call();
  }

  get #stallDeadlineMs(): number {
    const freeShare = Math.max(0, 1 - this.size / this.#limit);
    return SOJOURN_MS * freeShare * freeShare;
  }
}

/** From one tick of our event loop to the next, milliseconds: the resolution of all that admission measures. */
export const TICK_MS = 50;

/**
 * For how long an endpoint at its limit has neither started nor ended an attempt, milliseconds; 0 below the
 * shortest queue deadline: so little is chance, or our own scheduling.
 * Ticks are counted, not time: when our own event loop pauses, one tick passes for everybody.
 *
 * Why it is needed: the simulation "an endpoint that hangs (twenty of thirty at once) delays the others for a moment" fails without it. The
 * queues of those that hang fill the memory until their attempts time out, and the live topics stop for all, for 8 s.
 */
export function stalledMs(endpoint: EndpointState, tick: number, limit: number): number {
  if (endpoint.busy < limit) return 0;
  const stillMs = (tick - endpoint.movedTick) * TICK_MS;
  return stillMs < SHORT_MS ? 0 : stillMs;
}
