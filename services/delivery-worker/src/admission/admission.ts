import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
import { AttemptSlots } from './concurrency-limit.js';
import { leastWaitMs, untilProbeMs, untilSlotMs } from './deferral.js';
import { isFast } from './drain.js';
import type { Deferred, DeferReason, EndpointState, Permit, PermitEnd, Verdict } from './endpoint-state.js';
import { EndpointTable } from './endpoint-table.js';
import type { TableRules } from './endpoint-table.js';
import { SOJOURN_MS, WaitingQueue } from './queue.js';
import { TICK_MS, noteStart, stalledMs } from './stalled.js';

export interface AdmissionRules extends TableRules {
  /** Attempts under way at one endpoint. */
  readonly endpointConcurrency: number;
  /** Attempts under way at all endpoints together. */
  readonly maxAttempts: number;
  /** Deliveries queued in memory; at so many, no record of the live topics is taken. */
  readonly queueLimit: number;
  /** The breaker of an endpoint has opened, or closed again. Must not throw. */
  readonly onBreaker?: (turned: 'opened' | 'closed', endpoint: EndpointState) => void;
}

export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds. */
  readonly unixNow: () => number;
  /** Between 0 (inclusive) and 1. */
  readonly random: () => number;
}

const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  unixNow: () => Date.now(),
  random: () => Math.random(),
};

/** It comes from a retry tier. */
const wasDeferred = ({ attempt, parkedCount }: DeliveryTask): boolean => attempt > 1 || parkedCount > 0;

/** Lets deliveries to their endpoints, so that a slow or dead one costs only itself. One for each worker. */
export class Admission {
  readonly #rules: AdmissionRules;
  readonly #clock: Clock;
  readonly #table: EndpointTable;
  readonly #slots: AttemptSlots;
  readonly #mayStart = (endpoint: EndpointState): boolean =>
    this.#slots.mayStart(endpoint, this.#stalledMs(endpoint) > 0);
  readonly room: WaitingQueue;
  #tick = 0;
  #draining = false;

  constructor(rules: AdmissionRules, clock: Clock = SYSTEM_CLOCK) {
    this.#rules = rules;
    this.#clock = clock;
    this.#table = new EndpointTable(rules);
    this.#slots = new AttemptSlots(rules.maxAttempts, rules.endpointConcurrency);
    this.room = new WaitingQueue(rules.queueLimit);
  }

  /** Start now, or be deferred: a promise only when it waits in memory, which lasts seconds at most. `last`: whatever the breaker says. */
  admit(task: DeliveryTask, target: SendTarget, last: boolean): Verdict | Promise<Verdict> {
    const endpoint = this.#table.of(task.tenantId, task.ref, target, this.#clock.now());
    if (!last) {
      if (this.#draining && !this.#isFast(endpoint)) return this.#defer(endpoint, 'draining', task);
      if (endpoint.breaker.isOpen) return this.#probe(endpoint, task);
    }
    if (endpoint.queue.isEmpty() && this.#mayStart(endpoint)) return this.#start(endpoint, false);
    if (!this.#mayQueue(endpoint, task)) return this.#defer(endpoint, 'busy', task);
    return new Promise((resolve) => {
      this.room.push(endpoint, { task, last, sinceTick: this.#tick, resolve });
    });
  }

  /** Exactly once for each permit. */
  release(permit: Permit, end: PermitEnd): void {
    const { endpoint } = permit;
    this.#slots.end(endpoint);
    endpoint.movedTick = this.#tick;
    if (permit.epoch === endpoint.epoch) this.#learn(permit, end);
    this.#startQueued();
    this.room.notify();
  }

  /** To be called by our own event loop each `TICK_MS`: what it counts are calls, not milliseconds. */
  tick(): void {
    this.#tick += 1;
    for (const endpoint of this.room.endpoints()) this.#deferLate(endpoint);
    this.#startQueued();
    this.room.notify();
    this.#table.forgetIdle(this.#clock.now());
  }

  /** The worker stops: from now on only endpoints known to be fast are attempted, so that what is under way ends soon. */
  drain(): void {
    this.#draining = true;
    for (const endpoint of this.room.endpoints())
      if (!this.#isFast(endpoint)) this.#deferQueue(endpoint, 'draining');
  }

  /** Attempts, deliveries that wait in memory, endpoints remembered, and how many breakers are not closed. */
  stats() {
    const states = { closed: 0, open: 0, probing: 0 };
    for (const { breaker } of this.#table.values()) states[breaker.state] += 1;
    const { open, probing } = states;
    return { busy: this.#slots.busy, queued: this.room.size, endpoints: this.#table.size, open, probing };
  }

  endpoints(): Iterable<EndpointState> {
    return this.#table.values();
  }

  #learn({ endpoint, probe }: Permit, end: PermitEnd): void {
    this.#slots.learn(endpoint, end);
    if (end.kind === 'unmade') {
      if (probe !== undefined) endpoint.breaker.dropProbe(probe);
    } else if (end.kind === 'succeeded') {
      if (endpoint.succeeded(end.durationMs)) this.#rules.onBreaker?.('closed', endpoint);
    } else if (
      endpoint.failed(end.label, probe, { now: this.#clock.now(), unixNow: this.#clock.unixNow() })
    ) {
      this.#rules.onBreaker?.('opened', endpoint);
      this.#deferQueue(endpoint, 'breaker');
    }
  }

  #probe(endpoint: EndpointState, task: DeliveryTask): Verdict {
    const now = this.#clock.now();
    const probe = this.#slots.free > 0 ? endpoint.breaker.startProbe(now, wasDeferred(task)) : undefined;
    return probe === undefined ? this.#defer(endpoint, 'breaker', task) : this.#start(endpoint, false, probe);
  }

  #start(endpoint: EndpointState, queued: boolean, probe?: number): Permit {
    this.#slots.start(endpoint);
    noteStart(endpoint, this.#tick);
    return { kind: 'permit', endpoint, epoch: endpoint.epoch, queued, probe };
  }

  #startQueued(): void {
    for (
      let endpoint = this.room.next(this.#mayStart);
      endpoint !== undefined;
      endpoint = this.room.next(this.#mayStart)
    )
      this.room.shift(endpoint)?.resolve(this.#start(endpoint, true));
  }

  #limitOf(endpoint: EndpointState): number {
    return this.#slots.limitOf(endpoint, false);
  }

  #stalledMs(endpoint: EndpointState): number {
    return stalledMs(endpoint, this.#tick, this.#limitOf(endpoint));
  }

  #isFast(endpoint: EndpointState): boolean {
    return isFast(endpoint.meanMs, this.#stalledMs(endpoint));
  }

  #mayQueue(endpoint: EndpointState, task: DeliveryTask): boolean {
    if (wasDeferred(task) && this.room.isOverfull) return false;
    // At the most slots it may get: its limit doubles with each round while it is new.
    const byPaceMs = ((endpoint.queue.length + 1) * endpoint.meanMs) / this.#slots.mostFor();
    const isNew = (this.#tick - endpoint.busySinceTick) * TICK_MS < SOJOURN_MS;
    const wait = { byPaceMs, stalledMs: this.#stalledMs(endpoint), isNew };
    return this.room.mayPush(endpoint, wait, this.#slots.busy);
  }

  /** Those who waited too long; all of them when the endpoint is stalled for longer than they may wait. */
  #deferLate(endpoint: EndpointState): void {
    if (this.#stalledMs(endpoint) > this.room.deadlineMs) return this.#deferQueue(endpoint, 'busy');
    const lateMs = (): number => (this.#tick - (endpoint.queue.peekFront()?.sinceTick ?? Infinity)) * TICK_MS;
    while (lateMs() > SOJOURN_MS) this.#deferNext(endpoint, 'busy');
  }

  /** All that wait there; when it is down, all but those for their last attempt, which is made whatever is known of the endpoint. */
  #deferQueue(endpoint: EndpointState, reason: DeferReason): void {
    for (let left = endpoint.queue.length; left > 0; left -= 1) this.#deferNext(endpoint, reason);
  }

  #deferNext(endpoint: EndpointState, reason: DeferReason): void {
    const queued = this.room.shift(endpoint);
    if (queued === undefined) return;
    if (queued.last && reason !== 'busy') this.room.push(endpoint, queued);
    else queued.resolve(this.#defer(endpoint, reason, queued.task));
  }

  #defer(endpoint: EndpointState, reason: DeferReason, task: DeliveryTask): Deferred {
    const retried = task.attempt > 1;
    const unixNow = this.#clock.unixNow();
    // A retry is old by its schedule: only what the endpoint has been down for counts.
    const since = retried ? Math.max(task.firstDueAt, endpoint.failingSince ?? unixNow) : task.firstDueAt;
    const deferral = {
      ageMs: Math.max(0, unixNow - since),
      leastMs: leastWaitMs(task.parkedCount, unixNow - task.firstDueAt),
      retried,
      now: this.#clock.now(),
      random: this.#clock.random(),
    };
    const waitMs =
      reason === 'breaker'
        ? untilProbeMs(endpoint, deferral)
        : untilSlotMs(endpoint, deferral, {
            stalledMs: this.#stalledMs(endpoint),
            limit: this.#limitOf(endpoint),
          });
    return { kind: 'deferred', reason, waitMs };
  }
}
