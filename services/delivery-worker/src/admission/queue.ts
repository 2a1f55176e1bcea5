import { isReturned } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import type { EndpointState, Queued, TenantState } from './endpoint-state.js';

/** Longest wait in memory, milliseconds. A deferral instead takes at least a second and two writes. */
export const SOJOURN_MS = 2_000;
/** Longest wait while the queue is full, milliseconds. Even an overloaded worker starts 256 attempts in less time. */
const SHORT_MS = 150;
/** Share of the queue that one endpoint or one tenant may use while others have queued deliveries. */
const SHARE = 2 / 3;

/**
 * The deliveries that wait in memory, with a queue for each endpoint. Bounded in time (sojourn, as in CoDel, RFC
 * 8289) and in number. Tenants are served round robin, and so are the endpoints of a tenant (Nagle, RFC 970).
 */
export class WaitingQueue {
  readonly #limit: number;
  /** Tenants with queued deliveries, in round-robin order. */
  readonly #tenants = new Set<TenantState>();
  readonly #listeners: (() => void)[] = [];
  size = 0;
  /** Deliveries of retry tiers in the queue. They may use a third of it, so that they do not block the live topics. */
  #returned = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Must be checked before a record of the live topics is taken. */
  get hasCapacity(): boolean {
    return this.size < this.#limit;
  }

  /** Calls `call` whenever `hasCapacity` may have changed. */
  onCapacity(call: () => void): void {
    this.#listeners.push(call);
  }

  /**
   * Longest wait at the current fill level, milliseconds. It shrinks as the queue fills, so the queue never stays
   * full of deliveries to slow endpoints.
   */
  get deadlineMs(): number {
    return Math.max(SHORT_MS, this.#stallDeadlineMs);
  }

  /**
   * Whether one more delivery may be queued. `hasCapacity` already bounds deliveries of the live topics. `busy`:
   * attempts in flight at all endpoints.
   *
   * The shares of an endpoint and of a tenant are needed. Without them two simulations fail: "one endpoint that is
   * sent more than it takes" and "one that brings 90 %".
   */
  mayPush(endpoint: EndpointState, task: DeliveryTask, stalledMs: number, busy: number): boolean {
    if (
      stalledMs > this.#stallDeadlineMs ||
      (isReturned(task) && this.#returned >= this.#limit * (1 - SHARE))
    )
      return false;
    const isOverShare = (queued: number, inFlight: number): boolean =>
      queued > this.#limit * SHARE && queued + inFlight < this.size + busy;
    const { queue, tenant } = endpoint;
    return !isOverShare(queue.length, endpoint.busy) && !isOverShare(tenant.queued, tenant.busy);
  }

  /** Endpoints with queued deliveries. */
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

  /**
   * Returns the next endpoint in turn that may start an attempt. Moves the endpoint and its tenant to the end of
   * their turn order.
   */
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

  /** Removes and returns the oldest delivery of this endpoint. */
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

  /** Calls the listeners. Must be called when deliveries may have left the queue. */
  notify(): void {
    for (const call of this.#listeners) call();
  }

  get #stallDeadlineMs(): number {
    const freeShare = Math.max(0, 1 - this.size / this.#limit);
    return SOJOURN_MS * freeShare * freeShare;
  }
}

/** From one tick to the next, milliseconds: the resolution of admission. */
export const TICK_MS = 50;

/**
 * How long an endpoint at its limit has neither started nor ended an attempt, milliseconds. Values below the
 * shortest queue deadline are returned as 0, because chance dominates there. Time is counted in ticks, so a pause of
 * this process's event loop counts as one tick.
 *
 * Without this check the simulation "an endpoint that hangs (twenty of thirty at once) delays the others for a
 * moment" fails. Queues of hanging endpoints would fill the memory until their attempts time out, and block the live
 * topics for 8 s.
 */
export function stalledMs(endpoint: EndpointState, tick: number, limit: number): number {
  if (endpoint.busy < limit) return 0;
  const ms = (tick - endpoint.movedTick) * TICK_MS;
  return ms < SHORT_MS ? 0 : ms;
}
