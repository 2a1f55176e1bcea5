import { isReturned } from '@webhooks/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryTask } from '@webhooks/contracts';
import { AttemptSemaphore } from './attempt-semaphore.js';
import type { BreakerRules } from './breaker.js';
import { HORIZON_MS, leastWaitMs, SOONEST_MS, untilProbeMs, untilSlotMs } from './deferral.js';
import { EndpointTable } from './endpoint-state.js';
import type {
  Clock,
  Deferred,
  EndpointState,
  EndpointTarget,
  Permit,
  PermitEnd,
  Verdict,
} from './endpoint-state.js';
import { stalledMs, TICK_MS, WaitingQueue } from './queue.js';

export interface AdmissionRules {
  readonly breaker: BreakerRules;
  /** Attempts in flight at one endpoint. */
  readonly endpointConcurrency: number;
  /** Attempts in flight at all endpoints together. */
  readonly maxAttempts: number;
  /** Deliveries queued in memory. When the queue is full, no record of the live topics is taken. */
  readonly queueLimit: number;
  /** Called when the breaker of an endpoint opens or closes. Must not throw. */
  readonly onBreaker?: (turned: 'opened' | 'closed', endpoint: EndpointState) => void;
}

const SYSTEM_CLOCK: Clock = { now: () => performance.now(), unixNow: Date.now, random: Math.random };

/**
 * Decides when deliveries may start, so that a slow or dead endpoint delays only its own. One instance for each
 * worker.
 */
export class Admission {
  readonly #rules: AdmissionRules;
  readonly #clock: Clock;
  readonly #table: EndpointTable;
  readonly #semaphore: AttemptSemaphore;
  readonly #mayStart = (endpoint: EndpointState): boolean => this.#semaphore.mayStart(endpoint);
  readonly waiting: WaitingQueue;
  #tick = 0;
  #draining = false;

  constructor(rules: AdmissionRules, clock: Clock = SYSTEM_CLOCK) {
    this.#rules = rules;
    this.#clock = clock;
    this.#table = new EndpointTable(rules.breaker, clock.now);
    this.#semaphore = new AttemptSemaphore(rules.maxAttempts, rules.endpointConcurrency);
    this.waiting = new WaitingQueue(rules.queueLimit);
  }

  /**
   * Returns a permit or a deferral. Returns a promise only when the delivery waits in memory, for seconds at most.
   * `last`: the delivery's last attempt. It ignores the endpoint's health, but is deferred like others when it would
   * wait too long, or when the breaker opens while it is queued.
   */
  admit(task: DeliveryTask, target: EndpointTarget, last: boolean): Verdict | Promise<Verdict> {
    const endpoint = this.#table.of(task, target);
    const decided = last ? undefined : this.#decideByHealth(endpoint, task);
    if (decided !== undefined) return decided;
    if (endpoint.queue.isEmpty() && this.#mayStart(endpoint)) return this.#start(endpoint);
    const stalled = stalledMs(endpoint, this.#tick, this.#semaphore.limitOf(endpoint));
    if (!this.waiting.mayPush(endpoint, task, stalled, this.#semaphore.busy))
      return this.#defer(endpoint, 'busy', task);
    return new Promise((resolve) => this.waiting.push(endpoint, { task, sinceTick: this.#tick, resolve }));
  }

  /** Ends the permit's attempt. Must be called exactly once for each permit. */
  release({ endpoint, probe }: Permit, end: PermitEnd): void {
    this.#semaphore.end(endpoint, end);
    endpoint.movedTick = this.#tick;
    if (end.kind === 'unmade') endpoint.breaker.dropProbe(probe);
    else if (end.kind === 'failed') this.#failed(endpoint, end.label, probe);
    else if (endpoint.succeeded(end.durationMs)) this.#rules.onBreaker?.('closed', endpoint);
    this.#startQueued();
  }

  /** Defers a delivery that was not attempted because its tenant may open no new connection now. */
  throttle({ endpoint }: Permit, task: DeliveryTask): Deferred {
    return this.#defer(endpoint, 'throttled', task);
  }

  /**
   * Defers deliveries that have waited too long, and starts queued ones. Must be called every `TICK_MS`: admission
   * counts these calls, not milliseconds.
   */
  tick(): void {
    this.#tick += 1;
    for (const endpoint of this.waiting.endpoints()) this.#deferLate(endpoint);
    this.#startQueued();
  }

  /**
   * Begins the shutdown of the worker. From now on only fast endpoints are attempted, so that attempts in flight end
   * soon.
   */
  beginDrain(): void {
    this.#draining = true;
    for (const endpoint of this.waiting.endpoints())
      if (!isFast(endpoint)) this.#deferQueue(endpoint, 'draining');
  }

  /** `busy`: attempts in flight. `queued`: deliveries that wait in memory. */
  stats(): { readonly busy: number; readonly queued: number } {
    return { busy: this.#semaphore.busy, queued: this.waiting.size };
  }

  endpoints(): Iterable<EndpointState> {
    return this.#table.values();
  }

  #failed(endpoint: EndpointState, label: string, probe: number | undefined): void {
    if (!endpoint.failed(label, probe, this.#clock)) return;
    this.#rules.onBreaker?.('opened', endpoint);
    this.#deferQueue(endpoint, 'breaker');
  }

  /**
   * Returns a verdict for a failing endpoint, and for one that is not fast while the worker drains. Otherwise
   * undefined.
   */
  #decideByHealth(endpoint: EndpointState, task: DeliveryTask): Verdict | undefined {
    if (this.#draining && !isFast(endpoint)) return this.#defer(endpoint, 'draining', task);
    return endpoint.breaker.isOpen ? this.#probe(endpoint, task) : undefined;
  }

  #probe(endpoint: EndpointState, task: DeliveryTask): Verdict {
    const now = this.#clock.now();
    const probe = this.#semaphore.free > 0 ? endpoint.breaker.startProbe(now, isReturned(task)) : undefined;
    return probe === undefined ? this.#defer(endpoint, 'breaker', task) : this.#start(endpoint, probe);
  }

  #start(endpoint: EndpointState, probe?: number): Permit {
    this.#semaphore.start(endpoint, this.#tick);
    return { kind: 'permit', endpoint, probe };
  }

  #startQueued(): void {
    let endpoint: EndpointState | undefined;
    while ((endpoint = this.waiting.next(this.#mayStart)) !== undefined)
      this.waiting.shift(endpoint)?.resolve(this.#start(endpoint));
    this.waiting.notify();
  }

  /** Defers the endpoint's deliveries that have waited longer than the deadline. */
  #deferLate(endpoint: EndpointState): void {
    const waitedMs = (): number =>
      (this.#tick - (endpoint.queue.peekFront()?.sinceTick ?? Infinity)) * TICK_MS;
    while (waitedMs() > this.waiting.deadlineMs) this.#deferNext(endpoint, 'busy');
  }

  #deferQueue(endpoint: EndpointState, reason: Deferred['reason']): void {
    while (!endpoint.queue.isEmpty()) this.#deferNext(endpoint, reason);
  }

  #deferNext(endpoint: EndpointState, reason: Deferred['reason']): void {
    const queued = this.waiting.shift(endpoint);
    queued?.resolve(this.#defer(endpoint, reason, queued.task));
  }

  #defer(endpoint: EndpointState, reason: Deferred['reason'], task: DeliveryTask): Deferred {
    const retried = task.attempt > 1;
    const unixNow = this.#clock.unixNow();
    const now = this.#clock.now();
    // A retry is old by its schedule, so its wait counts from the beginning of the endpoint's outage.
    const since = retried ? Math.max(task.firstDueAt, endpoint.failingSince ?? unixNow) : task.firstDueAt;
    const deferral = {
      ageMs: Math.max(0, unixNow - since),
      leastMs: leastWaitMs(task.deferralCount, unixNow - task.firstDueAt),
      retried,
      now,
      random: this.#clock.random(),
    };
    const waitMs =
      reason === 'breaker'
        ? untilProbeMs(endpoint, deferral)
        : untilSlotMs(endpoint, deferral, this.#semaphore.limitOf(endpoint));
    const beginsPause = now >= endpoint.pausedUntil;
    // At most the horizon: an old delivery may be deferred for hours, but its endpoint is not paused that long.
    if (beginsPause) endpoint.pausedUntil = now + Math.min(waitMs, HORIZON_MS);
    return { kind: 'deferred', reason, waitMs, beginsPause };
  }
}

/** Whether the endpoint's attempts end sooner than a deferral would take. */
const isFast = ({ meanMs }: EndpointState): boolean => meanMs > 0 && meanMs < SOONEST_MS;

/**
 * The first part of an orderly shutdown: waits until slow attempts have ended, while fast endpoints are still
 * served. Leaving the consumer group gives up all partitions at once, and the next owner repeats records in flight.
 * `oldestAttemptMs`: age of the oldest attempt, 0 without any. `deadlineMs`: the longest attempt.
 */
export async function drain(
  admission: { beginDrain(): void },
  oldestAttemptMs: () => number,
  deadlineMs: number,
): Promise<void> {
  const beganAt = performance.now();
  admission.beginDrain();
  const passedMs = (): number => performance.now() - beganAt;
  // Attempts that are still in flight after this time are the slow ones.
  const areAllBrief = (): boolean => passedMs() > SOONEST_MS && oldestAttemptMs() <= SOONEST_MS;
  while (oldestAttemptMs() > 0 && !areAllBrief() && passedMs() < deadlineMs) await sleep(TICK_MS);
}
