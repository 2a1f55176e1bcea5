import type { Breaker, BreakerRules } from './breaker.js';
import type { Claim } from './claim.js';
import type { Span } from './lane.js';

/**
 * What is parked again and again waits longer than the next probe: 5 s of the first pause's default 30 s, doubling, but
 * at most three of the pauses the breaker is at, or its greatest pause. An endpoint down for an hour costs each delivery a
 * turn in 30 min; one that was down for a moment gets what has been parked often back within 10 min.
 */
const BACKOFF_OF_FIRST_PAUSE = 1 / 6;
const MAX_BACKOFF_OF_PAUSE = 3;
/**
 * First attempts come so much of the first pause after the probe is due (0.5 s): a retry should probe. An endpoint that
 * refuses each first attempt would otherwise refuse each probe, and nothing would ever reach it.
 */
const RETRIES_FIRST = 1 / 60;
/**
 * Over its limit: at the slot reserved for it, but not before a second, doubling to eight, because the pace may be
 * guessed wrong and a tenant's limit is not in it. No longer: many parkings say that the guess was wrong or that workers
 * came and went, not that the backlog is long, and the endpoint would idle while its deliveries wait.
 */
const BUSY_BACKOFF_MS = 1_000;
const MAX_BUSY_BACKOFF_MS = 8_000;
/** How far ahead slots are reserved: 4 s, doubling with each time to half an hour, so that a long backlog costs few turns. */
const BUSY_HORIZON_MS = 4_000;
const MAX_HORIZON_MS = 1_800_000;

const doublings = ({ parkedCount }: Claim): number => 2 ** Math.min(parkedCount, 16);

/** When a delivery comes back whose endpoint is down: at the next probe, or later when it has been parked often. */
export function spanAfterProbe(breaker: Breaker, rules: BreakerRules, claim: Claim, now: number): Span {
  const backoffMs = rules.firstPauseMs * BACKOFF_OF_FIRST_PAUSE * doublings(claim);
  const maxBackoffMs = Math.max(breaker.pauseMs * MAX_BACKOFF_OF_PAUSE, rules.maxPauseMs);
  const probeAt = breaker.probeAt + (claim.retried ? 0 : rules.firstPauseMs * RETRIES_FIRST);
  return { earliest: Math.max(probeAt, now + Math.min(backoffMs, maxBackoffMs)), latest: now + maxBackoffMs };
}

/** When a delivery comes back whose endpoint, or tenant, is at its limit. */
export function spanWhenBusy(claim: Claim, now: number): Span {
  const backoffMs = Math.min(BUSY_BACKOFF_MS * doublings(claim), MAX_BUSY_BACKOFF_MS);
  const horizonMs = Math.min(BUSY_HORIZON_MS * doublings(claim), MAX_HORIZON_MS);
  return { earliest: now + backoffMs, latest: now + horizonMs };
}
