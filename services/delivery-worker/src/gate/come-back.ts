import { wholeTiers } from '@webhooks/contracts';
import type { Breaker, BreakerRules } from './breaker.js';
import type { Claim } from './claim.js';
import type { Reservation, Span } from './lane.js';

/**
 * First attempts come so much of the first pause after the probe is due (0.5 s): a retry should probe. An endpoint that
 * refuses each first attempt would otherwise refuse each probe, and nothing would ever reach it.
 */
const RETRIES_FIRST = 1 / 60;
/** After a second of the first pause's 30, then after as long as the probe has taken already: four looks at most. */
const SOON_OF_FIRST_PAUSE = 1 / 30;
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
/** A longer wait would be written twice: 5 s in a tier and less than 5 s in memory. */
const HUNG_HORIZON_MS = 9_800;

const doublings = ({ parkedCount }: Claim): number => 2 ** Math.min(parkedCount, 16);

/**
 * When a delivery comes back whose endpoint is down: when the next probe is due, or later within the pause before it, so
 * that a backlog costs a turn for each probe, and is there when the endpoint is. How often it has been parked says nothing:
 * workers that come and go park, too. While a probe is under way, or is
 * due and this one may not be it: soon.
 */
export function spanAfterProbe(breaker: Breaker, rules: BreakerRules, claim: Claim, now: number): Span {
  const { probeAt, probingSince, pauseMs } = breaker;
  const dueAt = probeAt + (claim.retried ? 0 : rules.firstPauseMs * RETRIES_FIRST);
  const soonMs = rules.firstPauseMs * SOON_OF_FIRST_PAUSE;
  const earliest = Math.max(dueAt, now + Math.max(soonMs, now - (probingSince ?? now)));
  return { earliest, latest: earliest + pauseMs, paceOfNowUntil: -Infinity };
}

/**
 * Until a probe nobody waits for the millisecond, but each record of a backlog is written and read for each tier: of whole
 * tiers. Not what has been attempted before: there is little of it, and it comes first.
 */
export const waitForProbe = (waitMs: number, { retried }: Claim): number =>
  retried ? waitMs : wholeTiers(waitMs);

/** An endpoint that has ended no attempt for so long probably hangs until its attempts time out. */
export const HUNG_MS = 3_000;

/** Who is sent away for long takes no slot from those that may come sooner. */
export function reservationOf({ retried }: Claim, isHung: boolean): Reservation {
  if (isHung) return 'hung';
  return retried ? 'retry' : 'first';
}

/**
 * When a delivery comes back whose endpoint, or tenant, is at its limit: to one that hangs after 8 s, because half of all
 * parkings were of deliveries that had come back too soon.
 */
export function spanWhenBusy(claim: Claim, now: number, isHung: boolean): Span {
  const horizonMs = Math.min(BUSY_HORIZON_MS * doublings(claim), MAX_HORIZON_MS);
  const backoffMs = isHung
    ? MAX_BUSY_BACKOFF_MS
    : Math.min(BUSY_BACKOFF_MS * doublings(claim), MAX_BUSY_BACKOFF_MS);
  const aheadMs = isHung ? Math.max(horizonMs, HUNG_HORIZON_MS) : horizonMs;
  return { earliest: now + backoffMs, latest: now + aheadMs, paceOfNowUntil: now + BUSY_HORIZON_MS };
}
