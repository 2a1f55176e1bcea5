import { LRUCache } from 'lru-cache';
import { AppError } from '../request/app-error.js';
import { isCounted } from './shares.js';
import type { Caller } from './shares.js';

/** What one tenant may use of one instance. */
export interface RateLimit {
  /** Units per second; 0: no limit. */
  readonly perSecond: number;
  /** Units that may be used at once, after a pause. */
  readonly burst: number;
}

export interface TenantLimiterOptions {
  readonly limit: RateLimit;
  /** What is counted, as callers and the metric call it. */
  readonly counted: 'requests' | 'events';
  /** Tokens with this scope are the operator's own: they are not counted. */
  readonly uncountedScope?: string | undefined;
  /** Milliseconds of a clock that never goes back; default: that of this process. */
  readonly now?: () => number;
}

/** Tenants that are remembered, of 300 bytes each. A tenant that was forgotten begins with a full burst. */
const REMEMBERED_TENANTS = 10_000;
/** Sums of fractions of milliseconds are not exact. */
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
 * A token bucket for each tenant, kept as the moment at which it is full again (GCRA, ITU-T I.371). A request costs one look-up,
 * and a refused request takes nothing.
 */
export function createTenantLimiter(options: TenantLimiterOptions) {
  const { limit, uncountedScope, now = () => performance.now() } = options;
  const isLimited = (caller: Caller): boolean => limit.perSecond > 0 && isCounted(caller, uncountedScope);
  const eachMs = 1_000 / limit.perSecond;
  const burstMs = limit.burst * eachMs;
  const fullAt = new LRUCache<string, number>({ max: REMEMBERED_TENANTS });

  /** The moment at which the bucket is full again after `count` were taken now. */
  const fullAfter = (tenantId: string, count: number): number => {
    const at = now();
    const after = Math.max(fullAt.get(tenantId) ?? at, at) + count * eachMs;
    const waitMs = after - at - burstMs;
    if (waitMs > TOLERANCE_MS) throw tooMany(options, waitMs, tenantId);
    return after;
  };
  return {
    /** Takes `count`, at most the burst. Throws 429 with `Retry-After`, and takes nothing, when fewer are there. */
    take: (caller: Caller, count: number): void => {
      if (isLimited(caller)) fullAt.set(caller.tenantId, fullAfter(caller.tenantId, count));
    },
    /** Throws 429 with `Retry-After` when fewer than `count` (default 1) are there. Takes nothing. */
    check: (caller: Caller, count = 1): void => {
      if (isLimited(caller)) fullAfter(caller.tenantId, count);
    },
  };
}

export type TenantLimiter = ReturnType<typeof createTenantLimiter>;
