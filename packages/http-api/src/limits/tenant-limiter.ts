import { LRUCache } from 'lru-cache';
import { AppError } from '../request/app-error.js';
import { isLimited } from './shared-budget.js';
import type { Caller } from './shared-budget.js';

/** The rate limit of one tenant in one instance. */
export interface RateLimit {
  /** Units per second; 0: no limit. */
  readonly perSecond: number;
  /** Units that a tenant may use at once after a pause; minimum 1. */
  readonly burst: number;
}

export interface TenantLimiterOptions {
  readonly limit: RateLimit;
  /** The counted unit, as named in error messages and in the metric. */
  readonly counted: 'requests' | 'events';
  /** Callers with this scope are the operator's own, and have no limit. */
  readonly exemptScope?: string | undefined;
  /** Milliseconds of a monotonic clock; default: `performance.now`. */
  readonly now?: () => number;
}

/** Remembered tenants, of 300 bytes each. A forgotten tenant starts with a full burst. */
const REMEMBERED_TENANTS = 10_000;
/** Tolerance for rounding: sums of fractions of milliseconds are not exact. */
const TOLERANCE_MS = 0.001;

function tooMany(
  { limit: { perSecond, burst }, counted }: TenantLimiterOptions,
  waitMs: number,
  tenantId: string,
) {
  const seconds = Math.ceil(waitMs / 1_000);
  const detail = `this tenant may send ${perSecond} ${counted} a second and ${burst} at once; send this again in ${seconds} s`;
  return new AppError('too-many-requests', detail, {
    headers: { 'retry-after': String(seconds) },
    shed: { reason: `tenant-${counted}`, tenantId },
  });
}

/**
 * Creates a token bucket for each tenant, stored as the time at which it is full again (GCRA, ITU-T I.371). A request
 * costs one look-up, and a refused request takes nothing.
 */
export function createTenantLimiter(options: TenantLimiterOptions) {
  const { limit, exemptScope, now = () => performance.now() } = options;
  const applies = (caller: Caller): boolean => limit.perSecond > 0 && isLimited(caller, exemptScope);
  const eachMs = 1_000 / limit.perSecond;
  const burstMs = limit.burst * eachMs;
  const fullAt = new LRUCache<string, number>({ max: REMEMBERED_TENANTS });

  /**
   * Returns the time at which the bucket is full again if `count` units are taken now. Throws 429 when fewer are
   * left.
   */
  const fullAfter = (tenantId: string, count: number): number => {
    const at = now();
    const after = Math.max(fullAt.get(tenantId) ?? at, at) + count * eachMs;
    const waitMs = after - at - burstMs;
    if (waitMs > TOLERANCE_MS) throw tooMany(options, waitMs, tenantId);
    return after;
  };
  return {
    /** Takes `count` units, at most the burst. When fewer are left, takes nothing and throws 429 with `Retry-After`. */
    take: (caller: Caller, count: number): void => {
      if (applies(caller)) fullAt.set(caller.tenantId, fullAfter(caller.tenantId, count));
    },
    /** Throws 429 with `Retry-After` when fewer than `count` units (default 1) are left. Takes nothing. */
    check: (caller: Caller, count = 1): void => {
      if (applies(caller)) fullAfter(caller.tenantId, count);
    },
  };
}

/** Limits the requests or events of each tenant per second; see `createTenantLimiter`. */
export type TenantLimiter = ReturnType<typeof createTenantLimiter>;
