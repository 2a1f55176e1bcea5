import type { DeferReason, Deferred } from '../admission/endpoint-state.js';
import type { CancelReason } from '../configurations/current-configuration.js';
import type { AttemptOutcome } from './attempt.js';

const MAX_SECONDS = 10 * 86_400;

/**
 * The three forms of HTTP dates (RFC 9110 §5.6.7); the third has no time zone. `Date.parse` alone would also accept
 * `-1` and `2030`.
 */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} [\d:]{8} GMT$|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/;

/** Unix milliseconds of an HTTP date; `NaN` for other text. */
function parseHttpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}

/**
 * Parses a `Retry-After` (RFC 9110 §10.2.3), seconds or a date, into a wait in milliseconds, at most 10 days.
 * Returns 0 for an unusable value: empty, negative, fractional or in the past. The sender passes at most 64
 * characters.
 */
export function retryAfterMs(value: string | undefined, now: number): number {
  const text = value?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return Math.min(Math.max(0, waitMs || 0), MAX_SECONDS * 1_000);
}

/** When a delivery is retried, and when it ends. */
export interface RetrySchedule {
  /** Waits before attempts 2, 3, …, milliseconds. There is one attempt more than there are delays. */
  readonly delaysMs: readonly number[];
  /** Random share added to or subtracted from a delay: 0.2 means ±20 %. */
  readonly jitter: number;
  /** Age at which a delivery gets its last attempt, milliseconds since it was first due. */
  readonly maxAgeMs: number;
  /** Longest wait that a `Retry-After` can set, milliseconds. */
  readonly retryAfterMaxMs: number;
}

/** The first attempt is made at once. This list has the waits before the following twelve. */
export const DEFAULT_RETRY_DELAYS = '5s,30s,2m,10m,30m,1h,2h,4h,8h,12h,24h,24h';

/** Why a delivery ends without a 2xx. */
export const DEAD_REASONS = ['attempts-exhausted', 'expired', 'configuration-unknown'] as const;
export type DeadReason = (typeof DEAD_REASONS)[number];

/** What happens to a delivery after an attempt, or instead of one. */
export type Settlement =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly dueAt: number }
  /**
   * No attempt was made; the attempt is made later. `fault`: by a fault of this system. For the other reasons see
   * `DeferReason`.
   */
  | {
      readonly kind: 'deferred';
      readonly dueAt: number;
      readonly reason: 'fault' | DeferReason;
      /** Whether the attempt log gets an entry also when this is not the first settlement: once for each pause of an endpoint, and for each fault. */
      readonly isLogged: boolean;
    }
  | { readonly kind: 'dead'; readonly reason: DeadReason }
  | { readonly kind: 'cancelled'; readonly reason: CancelReason };

/** The inputs of the rules besides the outcome. Times are Unix milliseconds. */
export interface DecisionInput {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly firstDueAt: number;
  readonly now: number;
  readonly schedule: RetrySchedule;
  /** Between 0 (inclusive) and 1, for the jitter. */
  readonly random: number;
}

/**
 * Statuses whose `Retry-After` applies: the endpoint, or a proxy before it, is overloaded or down (RFC 6585, RFC
 * 9110).
 */
const RETRY_AFTER_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The planned wait with jitter, or the longer wait of `Retry-After`, up to the schedule's bound. Milliseconds. */
function waitMs(
  outcome: AttemptOutcome,
  plannedMs: number,
  { now, schedule, random }: DecisionInput,
): number {
  const spread = plannedMs * (1 + schedule.jitter * (2 * random - 1));
  const applies = outcome.kind === 'refused' && RETRY_AFTER_STATUSES.has(outcome.status);
  const requestedMs = applies ? retryAfterMs(outcome.retryAfter, now) : 0;
  // Rounded up, so that a wait is never shorter than the planned delay minus its jitter.
  return Math.ceil(Math.max(spread, Math.min(requestedMs, schedule.retryAfterMaxMs)));
}

/**
 * The delivery rules, pure. A 2xx ends a delivery. After any other outcome it is retried after the planned wait,
 * until the attempts are used up. At its maximum age a delivery gets one last attempt.
 */
export function decide(outcome: AttemptOutcome, input: DecisionInput): Settlement {
  if (outcome.kind === 'accepted') return { kind: 'delivered' };
  const planned = input.schedule.delaysMs[input.attempt - 1];
  if (planned === undefined) return { kind: 'dead', reason: 'attempts-exhausted' };
  const limit = limitOf(input);
  if (input.now >= limit) return { kind: 'dead', reason: 'expired' };
  return { kind: 'retry', dueAt: Math.min(input.now + waitMs(outcome, planned, input), limit) };
}

/** When a delivery gets its last attempt, Unix milliseconds. */
const limitOf = ({ firstDueAt, schedule }: Pick<DecisionInput, 'firstDueAt' | 'schedule'>): number =>
  firstDueAt + schedule.maxAgeMs;

/** Whether the next attempt is the last that the delivery's age allows. */
export const isLast = (input: Pick<DecisionInput, 'firstDueAt' | 'now' | 'schedule'>): boolean =>
  input.now >= limitOf(input);

const FIRST_FAULT_WAIT_MS = 30_000;
const MAX_FAULT_WAIT_MS = 1_800_000;
const LAST_ATTEMPT_GRACE_MS = 86_400_000;

/**
 * When an attempt is retried that was not made because of a fault of this system: after 30 s, doubling with each deferral
 * up to a quarter of the delivery's age, and to 30 min.
 * A delivery at its maximum age still gets its last attempt, so its deadline is extended by a day. With another
 * `deadReason` there is no extension: its webhook is unknown.
 */
export function deferAfterFault(
  deferralCount: number,
  input: Pick<DecisionInput, 'firstDueAt' | 'now' | 'schedule'>,
  deadReason: DeadReason = 'expired',
): Settlement {
  const { now, firstDueAt } = input;
  const limit = limitOf(input);
  const graceMs = deadReason === 'expired' ? LAST_ATTEMPT_GRACE_MS : 0;
  if (now >= limit + graceMs) return { kind: 'dead', reason: deadReason };
  const longestMs = Math.max(FIRST_FAULT_WAIT_MS, Math.ceil((now - firstDueAt) / 4));
  const dueAt = now + Math.min(FIRST_FAULT_WAIT_MS * 2 ** deferralCount, longestMs, MAX_FAULT_WAIT_MS);
  const latest = now < limit ? limit : dueAt;
  return { kind: 'deferred', reason: 'fault', dueAt: Math.min(dueAt, latest), isLogged: true };
}

/**
 * When a deferred task is due: at its maximum age at the latest, for its last attempt. A task beyond that age is due
 * within 30 min.
 */
export function defer(
  { waitMs, reason, beginsPause }: Omit<Deferred, 'kind'>,
  input: Pick<DecisionInput, 'firstDueAt' | 'now' | 'schedule'>,
): Settlement {
  const limit = limitOf(input);
  // The tenant's endpoints use up its handshakes, so its delivery also ends after the extension.
  if (reason === 'throttled' && input.now >= limit + LAST_ATTEMPT_GRACE_MS)
    return { kind: 'dead', reason: 'expired' };
  const dueAt = Math.ceil(input.now + waitMs);
  const latest = input.now < limit ? limit : input.now + MAX_FAULT_WAIT_MS;
  return { kind: 'deferred', reason, dueAt: Math.min(dueAt, latest), isLogged: beginsPause };
}
