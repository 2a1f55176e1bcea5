import { tierFor } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import { Admission } from '../../src/admission/admission.js';
import type { AdmissionRules } from '../../src/admission/admission.js';
import type { PermitEnd, Verdict } from '../../src/admission/endpoint-state.js';
import { TICK_MS } from '../../src/admission/queue.js';
import { EventHeap } from './event-heap.js';
import { buildTask } from '../builders.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const MAX_AGE_MS = 8 * DAY;
/** Records of each source that are handled at once (`MAX_IN_FLIGHT`). */
const WINDOW = 1_000;
const RETRY_DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
];
const RULES: AdmissionRules = {
  endpointConcurrency: 64,
  maxAttempts: 1_024,
  queueLimit: 256,
  breaker: { failures: 10, firstPauseMs: 30 * SECOND, maxPauseMs: 10 * MINUTE },
};

const fail = (error: unknown): never => {
  throw error;
};

/** What an attempt that starts now comes to, and after how long. */
export type Behaviour = (now: number) => {
  readonly afterMs: number;
  readonly status: number | 'TIMEOUT' | 'CONNECT';
};

export const answers =
  (afterMs: number, status: number | 'TIMEOUT' | 'CONNECT' = 200): Behaviour =>
  () => ({ afterMs, status });
export const BAD: Readonly<Record<string, Behaviour>> = {
  hangs: answers(10_000, 'TIMEOUT'),
  'hangs with a time-out of 30 s': answers(30_000, 'TIMEOUT'),
  'answers 500 at once': answers(2, 500),
  'takes 9 s': answers(9_000),
  'refuses connections': answers(1, 'CONNECT'),
  'drips its answer until the deadline': answers(10_000, 200),
};

export interface Target {
  readonly tenantId: string;
  readonly ref: string;
  readonly behaviour: Behaviour;
}

/** One delivery on its way. Times are virtual milliseconds. */
export interface Delivery {
  readonly to: Target;
  readonly bornAt: number;
  /** When it was first read; -1 before. */
  readAt: number;
  attempt: number;
  attempts: number;
  deferrals: number;
  deliveredAt: number;
}

/** Mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const endOf = (status: number | string, durationMs: number): PermitEnd =>
  status === 200 ? { kind: 'succeeded', durationMs } : { kind: 'failed', label: String(status) };

export interface Pause {
  readonly at: number;
  readonly forMs: number;
}

export interface SimulationOptions {
  readonly seed?: number;
  readonly maxAttempts?: number;
  /** While our own event loop stands still, everything that happens is seen at the end of it. */
  readonly pauses?: readonly Pause[];
}

/**
 * A worker without Kafka, HTTP or time: the live topic hands out its records in order while the window and the memory have
 * room; what is deferred or retried returns when it is due. The clock stands still until the next event.
 */
export class Simulation {
  readonly admission: Admission;
  readonly deliveries: Delivery[] = [];
  /** Writes to retry tiers: one for each tier that a wait passes. */
  appends = 0;
  /** Most records of the live topic, and of the tiers, that were in memory at once. */
  mostInMemory = 0;
  now = 0;
  readonly #heap = new EventHeap();
  readonly #random: () => number;
  readonly #pauses: readonly Pause[];
  #topic: Delivery[] = [];
  #topicAt = 0;
  #inMemory = 0;
  #live = 0;
  #ticking = false;
  #handingOut = false;
  #waiting = 0;

  constructor({ seed = 1, pauses = [], maxAttempts = RULES.maxAttempts }: SimulationOptions = {}) {
    this.#random = seeded(seed);
    this.#pauses = pauses;
    const clock = { now: () => this.now, unixNow: () => this.now, random: this.#random };
    this.admission = new Admission({ ...RULES, maxAttempts }, clock);
    this.admission.waiting.onCapacity(() => this.#handOut());
  }

  /** Events for these targets, so many a second to each, at random moments. */
  send(
    targets: readonly Target[],
    perSecond: number,
    { from = 0, until }: { from?: number; until: number },
  ): void {
    for (const to of targets) {
      const count = Math.round((perSecond * (until - from)) / SECOND);
      for (let left = count; left > 0; left -= 1)
        this.#add({
          to,
          bornAt: from + this.#random() * (until - from),
          readAt: -1,
          attempt: 1,
          attempts: 0,
          deferrals: 0,
          deliveredAt: -1,
        });
    }
  }

  /** Runs until nothing is left to happen, or until this moment. */
  async run(until = Infinity): Promise<void> {
    for (;;) {
      const event = this.#heap.pop(until);
      if (event === undefined) return;
      this.now = Math.max(this.now, this.#afterPauses(event.at));
      event.run();
      if (this.#waiting > 0) await Promise.resolve();
    }
  }

  /** When the last delivery arrived, virtual milliseconds; to this target. */
  lastDelivery(isWanted: (delivery: Delivery) => boolean = () => true): number {
    return this.deliveries.filter(isWanted).reduce((last, { deliveredAt }) => Math.max(last, deliveredAt), 0);
  }

  lastDeliveryTo(target: Target): number {
    return this.lastDelivery(({ to }) => to === target);
  }

  #afterPauses(at: number): number {
    const pause = this.#pauses.find((one) => at >= one.at && at < one.at + one.forMs);
    return pause === undefined ? at : pause.at + pause.forMs;
  }

  #add(delivery: Delivery): void {
    this.deliveries.push(delivery);
    this.#heap.push(delivery.bornAt, () => {
      this.#topic.push(delivery);
      this.#handOut();
    });
  }

  #handOut(): void {
    if (this.#handingOut) return;
    this.#handingOut = true;
    while (this.#topicAt < this.#topic.length && this.#live < WINDOW && this.admission.waiting.hasCapacity) {
      const delivery = this.#topic[this.#topicAt];
      this.#topicAt += 1;
      if (delivery) this.#handle(delivery, true);
    }
    this.#handingOut = false;
    if (this.#topicAt < this.#topic.length) return;
    this.#topic = [];
    this.#topicAt = 0;
  }

  #handle(delivery: Delivery, isLive: boolean): void {
    if (delivery.readAt < 0) delivery.readAt = this.now;
    this.#inMemory += 1;
    if (isLive) this.#live += 1;
    this.mostInMemory = Math.max(this.mostInMemory, this.#inMemory);
    this.#tickOn();
    const { to, readAt } = delivery;
    const task = taskOf(delivery);
    const last = this.now >= readAt + MAX_AGE_MS;
    const verdict = this.admission.admit(task, { origin: `https://${to.ref}.example`, path: '/' }, last);
    if (!(verdict instanceof Promise)) return this.#follow(verdict, delivery, isLive);
    this.#waiting += 1;
    void verdict.then((given) => {
      this.#waiting -= 1;
      this.#follow(given, delivery, isLive);
    }, fail);
  }

  #follow(verdict: Verdict, delivery: Delivery, isLive: boolean): void {
    if (verdict.kind === 'deferred') {
      delivery.deferrals += 1;
      const limit = delivery.readAt + MAX_AGE_MS;
      const dueAt = this.now + verdict.waitMs;
      this.#wait(delivery, this.now < limit ? Math.min(dueAt, limit) : dueAt);
      return this.#handled(isLive);
    }
    delivery.attempts += 1;
    const { afterMs, status } = delivery.to.behaviour(this.now);
    this.#heap.push(this.now + afterMs, () => {
      this.admission.release(verdict, endOf(status, afterMs));
      if (status === 200) delivery.deliveredAt = this.now;
      else this.#retry(delivery);
      this.#handled(isLive);
    });
  }

  #retry(delivery: Delivery): void {
    const delayMs = RETRY_DELAYS_MS[delivery.attempt - 1];
    if (delayMs === undefined || this.now >= delivery.readAt + MAX_AGE_MS) return;
    delivery.attempt += 1;
    this.#wait(delivery, Math.min(this.now + delayMs, delivery.readAt + MAX_AGE_MS));
  }

  #wait(delivery: Delivery, dueAt: number): void {
    let restMs = dueAt - this.now;
    do {
      this.appends += 1;
      restMs -= tierFor(restMs).delayMs;
    } while (restMs >= 5 * SECOND);
    this.#heap.push(dueAt, () => this.#handle(delivery, false));
  }

  #handled(isLive: boolean): void {
    this.#inMemory -= 1;
    if (isLive) this.#live -= 1;
    this.#handOut();
  }

  /** While nothing is in memory a tick changes nothing. */
  #tickOn(): void {
    if (this.#ticking) return;
    this.#ticking = true;
    this.#heap.push(this.now + TICK_MS, () => {
      this.#ticking = false;
      this.admission.tick();
      if (this.#inMemory > 0) this.#tickOn();
    });
  }
}

const BASE = buildTask();

const taskOf = ({ to, attempt, deferrals, readAt }: Delivery): DeliveryTask => ({
  ...BASE,
  tenantId: to.tenantId,
  ref: to.ref,
  attempt,
  deferralCount: deferrals,
  firstDueAt: readAt,
});

export const targetOf = (ref: string, behaviour: Behaviour, tenantId = ref): Target => ({
  tenantId,
  ref,
  behaviour,
});

export const healthyTargets = (count: number, afterMs = 5): readonly Target[] =>
  Array.from({ length: count }, (_, index) => targetOf(`healthy-${index}`, answers(afterMs)));

const isTo = (targets: readonly Target[]) => {
  const wanted = new Set(targets);
  return ({ to }: Delivery): boolean => wanted.has(to);
};

/** Of the deliveries to these: the delay that so many of a hundred stay below, milliseconds; what never arrived counts as for ever. */
export function delayMs({ deliveries }: Simulation, targets: readonly Target[], percent: number): number {
  const delays = deliveries
    .filter(isTo(targets))
    .map(({ bornAt, deliveredAt }) => (deliveredAt < 0 ? Infinity : deliveredAt - bornAt))
    .sort((a, b) => a - b);
  return delays[Math.min(delays.length - 1, Math.floor((delays.length * percent) / 100))] ?? 0;
}

/** The share of the deliveries to these that arrived. */
export function shareDelivered({ deliveries }: Simulation, targets: readonly Target[]): number {
  const theirs = deliveries.filter(isTo(targets));
  return theirs.filter(({ deliveredAt }) => deliveredAt >= 0).length / theirs.length;
}
