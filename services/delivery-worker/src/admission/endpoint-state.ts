import type { DeliveryTask } from '@webhooks/contracts';
import type { SendTarget } from '@webhooks/outbound';
import Denque from 'denque';
import { LRUCache } from 'lru-cache';
import { Breaker } from './breaker.js';
import type { BreakerRules } from './breaker.js';

/**
 * Attempts at once at a new endpoint, as TCP starts with ten segments (RFC 6928). That many wait for a timeout when
 * it hangs.
 */
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

/** A delivery that waits in memory. */
export interface Queued {
  readonly task: DeliveryTask;
  readonly sinceTick: number;
  readonly resolve: (verdict: Verdict) => void;
}

/** What one tenant uses of this worker, at all its endpoints. */
export interface TenantState {
  readonly tenantId: string;
  busy: number;
  queued: number;
  /** Its endpoints with a queue, in turn. */
  readonly queueing: Set<EndpointState>;
}

/** A target, and the attempts at once that its policy allows. */
export type EndpointTarget = SendTarget & { readonly maxConcurrency?: number | undefined };

/** One endpoint (tenant, `ref` and URL) as this worker knows it. */
export class EndpointState {
  readonly ref: string;
  readonly tenant: TenantState;
  target: EndpointTarget;
  readonly queue = new Denque<Queued>();
  readonly breaker: Breaker;
  /** Attempts under way. */
  busy = 0;
  /** Attempts that may be under way; see `AttemptSemaphore`. */
  limit = INITIAL_LIMIT;
  /** Mean duration of recent successes, milliseconds; 0 without any. */
  meanMs = 0;
  /** Tick of its last start or end; see `stalledMs`. */
  movedTick = 0;
  /** The next free slot for a deferred delivery, monotonic milliseconds. */
  nextSlotAt = 0;
  /** No other deferral begins a pause until then, monotonic milliseconds. */
  pausedUntil = 0;
  /** Unix milliseconds since when every attempt has failed. */
  failingSince: number | undefined;
  lastFailure = '';

  constructor(ref: string, tenant: TenantState, target: EndpointTarget, breaker: BreakerRules) {
    this.ref = ref;
    this.tenant = tenant;
    this.target = target;
    this.breaker = new Breaker(breaker);
  }

  /** Returns true when the breaker closed by it. Then the limit and the given slots are reset. */
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

  /** Returns true when the breaker opened by it. */
  failed(label: string, probe: number | undefined, { now, unixNow }: Clock): boolean {
    this.failingSince ??= unixNow();
    this.lastFailure = label;
    return this.breaker.failed(now(), probe);
  }
}

/** Permission for one attempt. Must be given back by `release` exactly once. */
export interface Permit {
  readonly kind: 'permit';
  readonly endpoint: EndpointState;
  /** The opening of the breaker that this attempt probes. */
  readonly probe: number | undefined;
}

/**
 * Why a delivery is deferred. `breaker`: its endpoint is failing. `busy`: its endpoint is slower than its deliveries.
 * `draining`: the worker stops, and the endpoint is not known to be fast. `throttled`: its tenant gets no new
 * connection now.
 */
export type DeferReason = 'breaker' | 'busy' | 'draining' | 'throttled';

export interface Deferred {
  readonly kind: 'deferred';
  readonly reason: DeferReason;
  /** From now, milliseconds. */
  readonly waitMs: number;
  /** The first deferral of a pause of its endpoint (30 s at most). Only this one is logged. */
  readonly beginsPause: boolean;
}

export type Verdict = Permit | Deferred;

/** How the attempt of a permit ended. */
export type PermitEnd =
  | { readonly kind: 'succeeded'; readonly durationMs: number }
  /** `label`: a status or an error class, for operators. */
  | { readonly kind: 'failed'; readonly label: string }
  /** No attempt was made. */
  | { readonly kind: 'unmade' };

/**
 * Endpoints that are remembered, about 25 MB. Beyond it the least recently used is forgotten, and an open breaker
 * costs ten attempts again.
 */
const MAX_ENDPOINTS = 50_000;
/** An endpoint without deliveries is forgotten after this time, milliseconds: six of the longest pauses. */
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

  /** A changed URL is another endpoint, and starts anew. */
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
