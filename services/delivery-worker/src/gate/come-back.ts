import type { Breaker, BreakerRules } from './breaker.js';
import type { Claim } from './claim.js';
import type { Span } from './lane.js';

/** What is parked again and again waits longer than the next probe: of the pauses' defaults 5 s, doubling to 30 min. */
const BACKOFF_OF_FIRST_PAUSE = 1 / 6;
const MAX_BACKOFF_OF_MAX_PAUSE = 3;
/**
 * First attempts come so much of the first pause after the probe is due (0.5 s): a retry should probe. An endpoint that
 * refuses each first attempt would otherwise refuse each probe, and nothing would ever reach it.
 */
const RETRIES_FIRST = 1 / 60;
/** Over its limit: a second, doubling with each time, so that a wrong guess of the pace costs little at first. */
const BUSY_BACKOFF_MS = 1_000;
const MAX_BUSY_BACKOFF_MS = 900_000;
/** The slots reserved for it lie within so many times that: with 15 min the last ones are half an hour ahead. */
const BUSY_HORIZON = 4;
const MAX_HORIZON_MS = 1_800_000;

const doublings = ({ parkedCount }: Claim): number => 2 ** Math.min(parkedCount, 16);

/** When a delivery comes back whose endpoint is down: at the next probe, or later when it has been parked often. */
export function spanAfterProbe(breaker: Breaker, rules: BreakerRules, claim: Claim, now: number): Span {
  const backoffMs = rules.firstPauseMs * BACKOFF_OF_FIRST_PAUSE * doublings(claim);
  const maxBackoffMs = rules.maxPauseMs * MAX_BACKOFF_OF_MAX_PAUSE;
  const probeAt = breaker.probeAt + (claim.retried ? 0 : rules.firstPauseMs * RETRIES_FIRST);
  return { earliest: Math.max(probeAt, now + Math.min(backoffMs, maxBackoffMs)), latest: now + maxBackoffMs };
}

/** When a delivery comes back whose endpoint, or tenant, is at its limit. */
export function spanWhenBusy(claim: Claim, now: number): Span {
  const backoffMs = Math.min(BUSY_BACKOFF_MS * doublings(claim), MAX_BUSY_BACKOFF_MS);
  return { earliest: now + backoffMs, latest: now + Math.min(BUSY_HORIZON * backoffMs, MAX_HORIZON_MS) };
}
