import type { SendTarget } from '@webhooks/outbound';
import Denque from 'denque';
import { Breaker } from './breaker.js';
import type { BreakerRules } from './breaker.js';
import type { Claim } from './claim.js';
import type { Verdict } from './gate-types.js';

/** A delivery that waits in memory for a slot. */
export interface Waiter {
  readonly resolve: (verdict: Verdict) => void;
  /** Monotonic milliseconds. */
  readonly since: number;
  readonly claim: Claim;
}

/** When a delivery may come back; monotonic milliseconds. */
export interface Span {
  readonly earliest: number;
  readonly latest: number;
  /** Slots before it are given at the pace of now, if the endpoint goes slower than it did; later ones are not: it may recover. */
  readonly paceOfNowUntil: number;
}

/** Whose slots: first attempts, what has been attempted before, and who comes to an endpoint that hangs. */
export type Reservation = 'first' | 'retry' | 'hung';

/** What a tenant's deliveries hold of this worker, at all its endpoints. */
export interface TenantShare {
  readonly tenantId: string;
  lanes: number;
  busy: number;
  /** Under way or in a queue. */
  held: number;
}

/** Pace of an endpoint that has not answered yet: 100 ms for an attempt. */
const UNKNOWN_SUCCESS_MS = 100;
const QUIET_PACES = 4;
/** Whoever finds no slot in its span comes in the last quarter of it: not all at once. The golden ratio spreads evenly. */
const NO_SLOT_SHARE = 1 / 4;
const GOLDEN = 0.618;
/** Weight of the newest attempt in the running means: about the last eight count. */
const NEWEST = 1 / 8;

const average = (mean: number, value: number): number =>
  mean === 0 ? value : mean + (value - mean) * NEWEST;

/** One endpoint (tenant and `ref`) as this worker sees it: what is under way, what waits, how fast it is, its breaker. */
export class Lane {
  readonly key: string;
  readonly ref: string;
  readonly tenant: TenantShare;
  readonly #rules: BreakerRules;
  breaker: Breaker;
  /** Grows when the URL changes: what is under way to the old one says nothing about the new one. */
  epoch = 0;
  busy = 0;
  busyWaited = 0;
  readonly live = new Denque<Waiter>();
  readonly waited = new Denque<Waiter>();
  /** Whether it stands among the lanes with a queue. */
  inRing = false;
  /** Since when its URL is known, or its breaker closed; and successes since then. */
  knownSince: number;
  successes = 0;
  /** Found to be quiet, or stuck (see `Patience`), and no attempt has ended since: patience that is over does not begin anew. */
  isQuiet = false;
  isStuck = false;
  /** When several attempts were under way last, after fewer; see `AttemptSlots`. */
  severalSince = 0;
  /** Deliveries served out of its queues. */
  turns = 0;
  usedAt: number;
  /** Wall clock, Unix milliseconds: since when every attempt has failed. */
  failingSince: number | undefined;
  lastFailure = '';
  #target: SendTarget;
  #movedAt: number;
  #busySince: number;
  #serviceMs = 0;
  #successMs = 0;
  /** Between 0 and 1: see `NO_SLOT_SHARE`. */
  #share = 0;
  /** The next free moment for first attempts, and for what has been attempted before. */
  readonly #nextSlotAt: Record<Reservation, number> = { first: 0, retry: 0, hung: 0 };

  constructor(
    owner: { key: string; ref: string; tenant: TenantShare },
    target: SendTarget,
    rules: BreakerRules,
    now: number,
  ) {
    this.key = owner.key;
    this.ref = owner.ref;
    this.tenant = owner.tenant;
    this.#target = target;
    this.#rules = rules;
    this.breaker = new Breaker(rules);
    this.usedAt = now;
    this.knownSince = now;
    this.#movedAt = now;
    this.#busySince = now;
  }

  /** `https://host[:port]`. */
  get origin(): string {
    return this.#target.origin;
  }

  get queued(): number {
    return this.live.length + this.waited.length;
  }

  /** Whether whoever comes now has nobody before it. */
  isNext(waited: boolean): boolean {
    return this.live.isEmpty() && (!waited || this.waited.isEmpty());
  }

  get held(): number {
    return this.busy + this.queued;
  }

  /** A changed URL is another endpoint: nothing that was learned holds. */
  use(target: SendTarget, now: number): void {
    this.usedAt = now;
    if (target === this.#target) return;
    const same = target.origin === this.#target.origin && target.path === this.#target.path;
    this.#target = target;
    if (same) return;
    this.epoch += 1;
    this.breaker = new Breaker(this.#rules);
    this.failingSince = undefined;
    this.#serviceMs = 0;
    this.#successMs = 0;
    this.#movedAt = this.#busySince = now;
    this.#beginAnew(now);
  }

  begin(now: number, waited: boolean): void {
    if (this.busy === 0) this.#movedAt = this.#busySince = now;
    this.busy += 1;
    if (waited) this.busyWaited += 1;
  }

  end(now: number, waited: boolean): void {
    this.#movedAt = now;
    this.isQuiet = false;
    this.isStuck = false;
    this.usedAt = now;
    this.busy -= 1;
    if (waited) this.busyWaited -= 1;
  }

  /** True when the breaker closed by it. */
  noteSuccess(durationMs: number, now: number): boolean {
    const closes = this.breaker.isOpen;
    this.#serviceMs = average(this.#serviceMs, durationMs);
    this.#successMs = average(this.#successMs, durationMs);
    if (closes) this.#beginAnew(now);
    this.successes += 1;
    this.breaker.succeeded();
    this.failingSince = undefined;
    return closes;
  }

  /** True when the breaker opened by it. */
  noteFailure(
    failure: { readonly durationMs: number; readonly label: string; readonly probe: number | undefined },
    now: number,
  ): boolean {
    this.#serviceMs = average(this.#serviceMs, failure.durationMs);
    this.failingSince ??= Date.now();
    this.lastFailure = failure.label;
    return this.breaker.failed(now, failure.probe);
  }

  /** For how long attempts are under way and none has ended, counted from `since` at the earliest; else 0. */
  stillFor(now: number, since = 0): number {
    return this.busy > 0 ? now - Math.max(this.#movedAt, since) : 0;
  }

  /** Attempts are under way, and none has ended for so long. */
  isStill(now: number, forMs: number): boolean {
    return this.stillFor(now) > forMs;
  }

  /** Four times what its attempts take (milliseconds): an endpoint that ends nothing for so long goes slower than it did. */
  get quietMs(): number {
    return QUIET_PACES * this.#serviceMs;
  }

  /** Whether it has answered, its attempts end within so long, and one did lately when some are under way. */
  isFast(now: number, withinMs: number): boolean {
    return this.hasAnswered && this.#serviceMs < withinMs && !this.isStill(now, withinMs);
  }

  /** Whether a success of it is known. */
  get hasAnswered(): boolean {
    return this.#successMs > 0;
  }

  /** Whether nothing is known of it, and nothing under way that will tell. */
  get isUntried(): boolean {
    return this.busy === 0 && this.#serviceMs === 0;
  }

  /** How long at least one attempt has been under way without a break. */
  busyFor(now: number): number {
    return this.busy === 0 ? 0 : now - this.#busySince;
  }

  /** How long one more in the queue would wait, as fast as the endpoint has been lately with `slots` at once. */
  expectedWaitMs(slots: number): number {
    return ((this.queued + 1) * this.#serviceMs) / slots;
  }

  /**
   * The next free moment not before `earliest`, so that a backlog comes back spread over the time it needs: at the pace of
   * the successes with `slots` at once, because how long failures took says nothing about a recovered endpoint. Not after
   * `latest`: who is told that comes back to a fresh look. What has been attempted before does not stand behind the first
   * attempts: it is older, and there is little of it.
   */
  reserve(kind: Reservation, { earliest, latest, paceOfNowUntil }: Span, slots: number, now: number): number {
    const at = Math.max(earliest, this.#nextSlotAt[kind]);
    // Whoever may not wait for the end of the backlog takes no slot: those reserved by others stay theirs.
    if (at > latest) return latest - this.#nextShare() * (latest - earliest);
    const successMs = this.#successMs === 0 ? UNKNOWN_SUCCESS_MS : this.#successMs;
    const paceMs = at < paceOfNowUntil ? Math.max(successMs, this.stillFor(now)) : successMs;
    this.#nextSlotAt[kind] = at + paceMs / slots;
    return at;
  }

  #nextShare(): number {
    const share = this.#share;
    this.#share = (share + GOLDEN) % 1;
    return share * NO_SLOT_SHARE;
  }

  #beginAnew(now: number): void {
    this.knownSince = now;
    this.successes = 0;
    this.isQuiet = false;
    this.isStuck = false;
    this.#nextSlotAt.first = 0;
    this.#nextSlotAt.retry = 0;
    this.#nextSlotAt.hung = 0;
  }
}
