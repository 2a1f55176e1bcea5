import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
import Denque from 'denque';
import { LRUCache } from 'lru-cache';
import { Breaker } from './breaker.js';
import type { BreakerRules } from './breaker.js';

/**
 * Concurrent attempts at a new endpoint, as TCP starts with ten segments (RFC 6928). When the endpoint hangs, this
 * many attempts run into their timeout.
 */
export const INITIAL_LIMIT = 16;
/** Weight of the newest value in a running mean (α of RFC 6298 §2). About the last eight values determine the mean. */
const NEWEST = 1 / 8;

export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds. */
  readonly unixNow: () => number;
  /** Between 0 (inclusive) and 1. */
  readonly random: () => number;
}

/** A delivery that waits in memory. */
export interface Queued {
  readonly task: DeliveryTask;
  /** The tick at which it was queued. */
  readonly sinceTick: number;
  readonly resolve: (verdict: Verdict) => void;
}

/** What one tenant uses of this worker, over all its endpoints: attempts in flight (`busy`) and queued deliveries. */
export interface TenantState {
  readonly tenantId: string;
  busy: number;
  queued: number;
  /** Its endpoints with queued deliveries, in round-robin order. */
  readonly queueing: Set<EndpointState>;
}

/** A target, and how many concurrent attempts its delivery policy allows. */
export type EndpointTarget = SendTarget & { readonly maxConcurrency?: number | undefined };

/** The state of one endpoint (tenant, `ref` and URL) on this worker. */
export class EndpointState {
  readonly ref: string;
  readonly tenant: TenantState;
  target: EndpointTarget;
  readonly queue = new Denque<Queued>();
  readonly breaker: Breaker;
  /** Attempts in flight. */
  busy = 0;
  /** How many attempts may be in flight; see `AttemptSemaphore`. */
  limit = INITIAL_LIMIT;
  /** Mean duration of recent successes, milliseconds; 0 without any. */
  meanMs = 0;
  /** Tick at which an attempt last started or ended; see `stalledMs`. */
  movedTick = 0;
  /** When the next slot for a deferred delivery is free, monotonic milliseconds. */
  nextSlotAt = 0;
  /** End of the current pause, monotonic milliseconds. */
  pausedUntil = 0;
  /** Since when every attempt has failed, Unix milliseconds; undefined for a healthy endpoint. */
  failingSince: number | undefined;
  /** Status or error class of the last failed attempt. */
  lastFailure = '';

  constructor(ref: string, tenant: TenantState, target: EndpointTarget, breaker: BreakerRules) {
    this.ref = ref;
    this.tenant = tenant;
    this.target = target;
    this.breaker = new Breaker(breaker);
  }

  /** Registers a success. Returns true when it closed the breaker; then the limit and the assigned slots are reset. */
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

  /** Registers a failure. Returns true when it opened the breaker. */
  failed(label: string, probe: number | undefined, { now, unixNow }: Clock): boolean {
    this.failingSince ??= unixNow();
    this.lastFailure = label;
    return this.breaker.failed(now(), probe);
  }
}

/** Permission for one attempt. Must be returned with `release` exactly once. */
export interface Permit {
  readonly kind: 'permit';
  readonly endpoint: EndpointState;
  /** The opening of the breaker that this attempt probes; undefined when it is no probe. */
  readonly probe: number | undefined;
}

/**
 * Why a delivery is deferred. `breaker`: its endpoint is failing. `busy`: its endpoint is slower than its deliveries
 * arrive. `draining`: the worker is shutting down, and the endpoint is not known to be fast. `throttled`: its tenant
 * may open no new connection now.
 */
export type DeferReason = 'breaker' | 'busy' | 'draining' | 'throttled';

export interface Deferred {
  readonly kind: 'deferred';
  readonly reason: DeferReason;
  /** Milliseconds from now. */
  readonly waitMs: number;
  /** Whether it begins a pause of its endpoint (30 s at most). Else only the first of a delivery is logged. */
  readonly beginsPause: boolean;
}

export type Verdict = Permit | Deferred;

/** How the attempt of a permit ended. */
export type PermitEnd =
  | { readonly kind: 'succeeded'; readonly durationMs: number }
  /** `label`: the status or the error class, shown to operators. */
  | { readonly kind: 'failed'; readonly label: string }
  /** No attempt was made. */
  | { readonly kind: 'unmade' };

/**
 * Most endpoints in memory, about 25 MB. Beyond it the least recently used is forgotten. If its breaker was open,
 * ten failed attempts open it again.
 */
const MAX_ENDPOINTS = 50_000;
/** An endpoint without deliveries is forgotten after this time, milliseconds: six times the longest pause. */
const FORGOTTEN_AFTER_MS = 3_600_000;

const isSame = (a: SendTarget, b: SendTarget): boolean =>
  a === b || (a.origin === b.origin && a.path === b.path);

/** The endpoint states by (tenant, ref). */
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

  /** Returns the state of the task's endpoint. A changed URL is a new endpoint with a new state. */
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
