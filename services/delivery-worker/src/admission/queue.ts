import { isReturned } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import type { EndpointState, Queued, TenantState } from './endpoint-state.js';

/** Longest wait in memory, milliseconds. A deferral takes a second and two writes. */
const SOJOURN_MS = 2_000;
/** Longest wait while the queue is full, milliseconds. Even an overloaded worker starts 256 attempts in less. */
const SHORT_MS = 150;
/** Share of the queue for one endpoint, or one tenant, while others have deliveries in it. */
const SHARE = 2 / 3;

/**
 * The deliveries that wait in memory, with a queue for each endpoint. Bounded in time (sojourn, as in CoDel, RFC
 * 8289) and in number. Tenants take turns, then their endpoints (round robin, Nagle, RFC 970).
 */
export class WaitingQueue {
  readonly #limit: number;
  /** Tenants with a queue, in turn. */
  readonly #tenants = new Set<TenantState>();
  readonly #listeners: (() => void)[] = [];
  size = 0;
  /** Deliveries of retry tiers in the queue; they get a third, so that they do not keep the live topics out. */
  #returned = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Must be checked before a record of the live topics is taken. */
  get hasCapacity(): boolean {
    return this.size < this.#limit;
  }

  /** `call` is called when `hasCapacity` may have changed. */
  onCapacity(call: () => void): void {
    this.#listeners.push(call);
  }

  /**
   * Longest wait now, milliseconds. It shrinks as the queue fills, so the queue never stays full of slow endpoints.
   */
  get deadlineMs(): number {
    return Math.max(SHORT_MS, this.#stallDeadlineMs);
  }

  /**
   * Whether one more delivery may wait. `hasCapacity` already bounds those of the live topics; `busy` counts attempts
   * at all endpoints.
   *
   * The shares of an endpoint and of a tenant are needed: without them the simulations "one endpoint that is sent
   * more than it takes" and "one that brings 90 %" fail.
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

  /** The next endpoint in turn that may start an attempt. It and its tenant go to the end of the line. */
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

  /** Takes the oldest delivery of this endpoint. */
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

  /** Must be called when deliveries may have left. */
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
 * How long an endpoint at its limit has neither started nor ended an attempt, milliseconds. It is 0 below the
 * shortest queue deadline, where chance dominates. It counts ticks, so a pause of our event loop counts as one tick.
 *
 * Without it the simulation "an endpoint that hangs (twenty of thirty at once) delays the others for a moment" fails.
 * Queues of hanging endpoints would fill the memory until the attempts time out, and stop the live topics for 8 s.
 */
export function stalledMs(endpoint: EndpointState, tick: number, limit: number): number {
  if (endpoint.busy < limit) return 0;
  const stillMs = (tick - endpoint.movedTick) * TICK_MS;
  return stillMs < SHORT_MS ? 0 : stillMs;
}
