import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
import Denque from 'denque';
import { LRUCache } from 'lru-cache';
import { Breaker } from './breaker.js';
import type { BreakerRules } from './breaker.js';

/** Attempts an endpoint starts with, as TCP with ten segments (RFC 6928): so many wait in vain for their time-out at a new one that hangs. */
export const INITIAL_LIMIT = 16;
/** Weight of the newest value in a running mean (α of RFC 6298 §2): about the last eight count. */
const NEWEST = 1 / 8;

export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds. */
  readonly unixNow: () => number;
  /** Between 0 (inclusive) and 1. */
  readonly random: () => number;
}

/** A delivery that waits in memory for its turn. */
export interface Queued {
  readonly task: DeliveryTask;
  readonly sinceTick: number;
  readonly resolve: (verdict: Verdict) => void;
}

/** What a tenant holds of this worker, at all its endpoints. */
export interface TenantState {
  readonly tenantId: string;
  busy: number;
  queued: number;
  /** Its endpoints with a queue, in turn. */
  readonly queueing: Set<EndpointState>;
}

/** Where to, and how many attempts at once its policy allows. */
export type EndpointTarget = SendTarget & { readonly maxConcurrency?: number | undefined };

/** One endpoint (tenant, `ref` and URL) as this worker sees it. */
export class EndpointState {
  readonly ref: string;
  readonly tenant: TenantState;
  target: EndpointTarget;
  readonly queue = new Denque<Queued>();
  readonly breaker: Breaker;
  /** Attempts under way. */
  busy = 0;
  /** How many there may be; see `AttemptSemaphore`. */
  limit = INITIAL_LIMIT;
  /** What its successes took lately, milliseconds; 0 while none is known. */
  meanMs = 0;
  /** The tick of its last start or end; see `stalledMs`. */
  movedTick = 0;
  /** The next slot that is free for a deferred delivery, monotonic milliseconds. */
  nextSlotAt = 0;
  /** Until then no other deferral begins a pause, monotonic milliseconds. */
  pausedUntil = 0;
  /** Unix milliseconds: since when every attempt has failed. */
  failingSince: number | undefined;
  lastFailure = '';

  constructor(ref: string, tenant: TenantState, target: EndpointTarget, breaker: BreakerRules) {
    this.ref = ref;
    this.tenant = tenant;
    this.target = target;
    this.breaker = new Breaker(breaker);
  }

  /** True when the breaker closed by it: then how often it answered, and the slots given away, say nothing any more. */
  succeeded(durationMs: number): boolean {
    const closes = this.breaker.isOpen;
    this.meanMs += (durationMs - this.meanMs) * (this.meanMs === 0 ? 1 : NEWEST);
    this.breaker.succeeded();
    this.failingSince = undefined;
    if (closes) {
      this.limit = INITIAL_LIMIT;
      this.nextSlotAt = 0;
    }
    return closes;
  }

  /** True when the breaker opened by it. */
  failed(label: string, probe: number | undefined, { now, unixNow }: Clock): boolean {
    this.failingSince ??= unixNow();
    this.lastFailure = label;
    return this.breaker.failed(now(), probe);
  }
}

/** The permission to make one attempt now; given back with `release`, exactly once. */
export interface Permit {
  readonly kind: 'permit';
  readonly endpoint: EndpointState;
  /** The opening of the breaker that it probes. */
  readonly probe: number | undefined;
}

/**
 * Why a delivery is deferred. `breaker`: its endpoint is known to be down. `busy`: it does less than it is sent. `draining`: the
 * worker stops, and the endpoint is not known to be fast. `throttled`: its tenant gets no new connection now.
 */
export type DeferReason = 'breaker' | 'busy' | 'draining' | 'throttled';

export interface Deferred {
  readonly kind: 'deferred';
  readonly reason: DeferReason;
  /** From now, milliseconds. */
  readonly waitMs: number;
  /** The first deferral of a pause of its endpoint (30 s at most): only this one is logged. */
  readonly beginsPause: boolean;
}

export type Verdict = Permit | Deferred;

/** How the attempt ended that a permit was given for. */
export type PermitEnd =
  | { readonly kind: 'succeeded'; readonly durationMs: number }
  /** `label` is for operators: a status or an error class. */
  | { readonly kind: 'failed'; readonly label: string }
  /** None was made. */
  | { readonly kind: 'unmade' };

/** Endpoints remembered, about 25 MB; beyond it those used longest ago go: an open breaker then costs ten attempts again. */
const MAX_ENDPOINTS = 50_000;
/** One without a delivery for so long, milliseconds, is forgotten: six of a breaker's longest pauses. */
const FORGOTTEN_AFTER_MS = 3_600_000;

const isSame = (a: SendTarget, b: SendTarget): boolean =>
  a === b || (a.origin === b.origin && a.path === b.path);

/** The endpoints by (tenant, ref). */
export class EndpointTable {
  readonly #breaker: BreakerRules;
  readonly #endpoints: LRUCache<string, EndpointState>;
  readonly #tenants = new LRUCache<string, TenantState>({
    max: MAX_ENDPOINTS,
    memoMethod: (tenantId) => ({ tenantId, busy: 0, queued: 0, queueing: new Set() }),
  });

  constructor(breaker: BreakerRules, now: () => number) {
    this.#breaker = breaker;
    const rules = { max: MAX_ENDPOINTS, ttl: FORGOTTEN_AFTER_MS, updateAgeOnGet: true, ttlResolution: 0 };
    this.#endpoints = new LRUCache({ ...rules, perf: { now } });
  }

  values(): Iterable<EndpointState> {
    return this.#endpoints.values();
  }

  /** A changed URL is another endpoint: nothing that was learned holds. */
  of({ tenantId, ref }: DeliveryTask, target: EndpointTarget): EndpointState {
    const key = `${tenantId}/${ref}`;
    const known = this.#endpoints.get(key);
    if (known !== undefined && isSame(known.target, target)) {
      this.#tenants.set(tenantId, known.tenant);
      known.target = target;
      return known;
    }
    const endpoint = new EndpointState(ref, this.#tenants.memo(tenantId), target, this.#breaker);
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }
}
