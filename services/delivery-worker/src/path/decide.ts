import type { DeferReason, Deferred } from '../admission/endpoint-state.js';
import type { CancelReason } from '../configurations/current-configuration.js';
import type { AttemptOutcome } from './attempt.js';

const MAX_SECONDS = 10 * 86_400;

/**
 * The three forms of HTTP dates (RFC 9110 §5.6.7); the last one names no zone. `Date.parse` would also take `-1` and
 * `2030`.
 */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} [\d:]{8} GMT$|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/;

/** Unix milliseconds of an HTTP date; `NaN` for other text. */
function parseHttpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/**
 * The wait of a `Retry-After` in milliseconds (RFC 9110 §10.2.3): seconds or a date, at most 10 days. 0 when it is
 * unusable: empty, negative, a fraction or in the past. The sender gives at most 64 characters.
 */
export function retryAfterMs(value: string | undefined, now: number): number {
  const text = value?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return Math.min(Math.max(0, waitMs || 0), MAX_SECONDS * 1_000);
}

/** When a delivery is retried, and when it ends. All in milliseconds. */
export interface RetrySchedule {
  /** Waits before attempts 2, 3, …: one attempt more than delays. */
  readonly delaysMs: readonly number[];
  /** Share of a delay by which it is spread, both ways: 0.2 means ±20 %. */
  readonly jitter: number;
  /** Age at which a delivery gets its last attempt, counted from when it was first due. */
  readonly maxAgeMs: number;
  /** Longest wait that an endpoint gets by `Retry-After`. */
  readonly retryAfterMaxMs: number;
}

/** Attempts at 0, 5 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 4 h, 8 h, 12 h, 24 h, 24 h after the one before. */
export const DEFAULT_RETRY_DELAYS = '5s,30s,2m,10m,30m,1h,2h,4h,8h,12h,24h,24h';

/** Why a delivery ends without a 2xx. */
export const DEAD_REASONS = ['attempts-exhausted', 'expired', 'configuration-unknown'] as const;
export type DeadReason = (typeof DEAD_REASONS)[number];

/** What becomes of a delivery after an attempt, or instead of one. */
export type Settlement =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly dueAt: number }
  /** No attempt was made; the same one is made later. `fault`: by our own fault. The others: see `DeferReason`. */
  | {
      readonly kind: 'deferred';
      readonly dueAt: number;
      readonly reason: 'fault' | DeferReason;
      /** Whether the attempt log gets an entry: one for each pause of an endpoint, and one for each fault. */
      readonly isLogged: boolean;
    }
  | { readonly kind: 'dead'; readonly reason: DeadReason }
  | { readonly kind: 'cancelled'; readonly reason: CancelReason };

/** What the rules look at besides the outcome. Times are Unix milliseconds. */
export interface Decision {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly firstDueAt: number;
  readonly now: number;
  readonly schedule: RetrySchedule;
  /** Between 0 (inclusive) and 1, for the jitter. */
  readonly random: number;
}

/**
 * Statuses with which `Retry-After` counts: the endpoint, or a proxy before it, is overloaded or away (RFC 6585, RFC
 * 9110).
 */
const RETRY_AFTER_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The planned wait with jitter, or the longer wait of `Retry-After`, up to the schedule's bound. */
function waitMs(outcome: AttemptOutcome, plannedMs: number, { now, schedule, random }: Decision): number {
  const spread = plannedMs * (1 + schedule.jitter * (2 * random - 1));
  const counts = outcome.kind === 'refused' && RETRY_AFTER_STATUSES.has(outcome.status);
  const requestedMs = counts ? retryAfterMs(outcome.retryAfter, now) : 0;
  // Rounded up: a wait is never shorter than the plan less its jitter.
  return Math.ceil(Math.max(spread, Math.min(requestedMs, schedule.retryAfterMaxMs)));
}

/**
 * The delivery rules, pure. A 2xx ends a delivery. Anything else is retried after the planned wait, until the
 * attempts are used up. At its greatest age a delivery gets one last attempt.
 */
export function decide(outcome: AttemptOutcome, decision: Decision): Settlement {
  if (outcome.kind === 'accepted') return { kind: 'delivered' };
  const planned = decision.schedule.delaysMs[decision.attempt - 1];
  if (planned === undefined) return { kind: 'dead', reason: 'attempts-exhausted' };
  const limit = limitOf(decision);
  if (decision.now >= limit) return { kind: 'dead', reason: 'expired' };
  return { kind: 'retry', dueAt: Math.min(decision.now + waitMs(outcome, planned, decision), limit) };
}

/** The age at which a delivery gets its last attempt, Unix milliseconds. */
const limitOf = ({ firstDueAt, schedule }: Pick<Decision, 'firstDueAt' | 'schedule'>): number =>
  firstDueAt + schedule.maxAgeMs;

/** Whether the next attempt is the last that the delivery's age allows. */
export const isLast = (decision: Pick<Decision, 'firstDueAt' | 'now' | 'schedule'>): boolean =>
  decision.now >= limitOf(decision);

const FIRST_FAULT_WAIT_MS = 30_000;
const MAX_FAULT_WAIT_MS = 1_800_000;
const LAST_ATTEMPT_GRACE_MS = 86_400_000;

/**
 * When an attempt that failed by our own fault is retried: after 30 s, doubling to 30 min. A delivery at its greatest
 * age is owed one attempt, so it gets a day more. Without a webhook to attempt it for, it gets none.
 */
export function deferAfterFault(
  deferralCount: number,
  decision: Pick<Decision, 'firstDueAt' | 'now' | 'schedule'>,
  deadReason: DeadReason = 'expired',
): Settlement {
  const { now } = decision;
  const limit = limitOf(decision);
  const graceMs = deadReason === 'expired' ? LAST_ATTEMPT_GRACE_MS : 0;
  if (now >= limit + graceMs) return { kind: 'dead', reason: deadReason };
  const dueAt = now + Math.min(FIRST_FAULT_WAIT_MS * 2 ** deferralCount, MAX_FAULT_WAIT_MS);
  const latest = now < limit ? limit : dueAt;
  return { kind: 'deferred', reason: 'fault', dueAt: Math.min(dueAt, latest), isLogged: true };
}

/** When a deferred task is due: by its greatest age at the latest, for its last attempt; beyond it within 30 min. */
export function defer(
  { waitMs, reason, beginsPause }: Omit<Deferred, 'kind'>,
  decision: Pick<Decision, 'firstDueAt' | 'now' | 'schedule'>,
): Settlement {
  const limit = limitOf(decision);
  // The tenant's own endpoints use up its connections, so the delivery ends as after a fault of ours.
  if (reason === 'throttled' && decision.now >= limit + LAST_ATTEMPT_GRACE_MS)
    return { kind: 'dead', reason: 'expired' };
  const dueAt = Math.ceil(decision.now + waitMs);
  const latest = decision.now < limit ? limit : decision.now + MAX_FAULT_WAIT_MS;
  return { kind: 'deferred', reason, dueAt: Math.min(dueAt, latest), isLogged: beginsPause };
}
