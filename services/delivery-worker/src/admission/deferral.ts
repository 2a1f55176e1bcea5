import { tierFor, wholeTiers } from '@webhooks/contracts';
import type { EndpointState } from './endpoint-state.js';

/** Shortest wait in Kafka, milliseconds: the shortest tier. */
export const SOONEST_MS = 1_000;
/**
 * How far ahead slots of a busy endpoint are assigned, milliseconds. For a delivery older than this, as far as its
 * age.
 */
export const HORIZON_MS = 30_000;
/**
 * Waits grow by this share of the time already waited. So 8 days need 37 deferrals (40 are allowed), and after an
 * outage a delivery waits up to a quarter of the outage longer.
 */
const GROWTH = 1 / 4;

/** The inputs for one deferral. */
export interface Deferral {
  /** Since the delivery was first due, milliseconds. For a retry: since its endpoint began to fail. */
  readonly ageMs: number;
  /** Shortest wait; see `leastWaitMs`. */
  readonly leastMs: number;
  /** Whether the delivery was attempted before. */
  readonly retried: boolean;
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Between 0 (inclusive) and 1. */
  readonly random: number;
}

/**
 * The shortest wait of a deferral, milliseconds. It grows with each deferral, so that an unstable endpoint does not
 * use up 40 deferrals within hours. It is at most a quarter of the delivery's age, but at least `SOONEST_MS`.
 */
export const leastWaitMs = (deferrals: number, ageMs: number): number =>
  Math.max(SOONEST_MS, Math.min(SOONEST_MS * (1 + GROWTH) ** deferrals, ageMs * GROWTH));

/**
 * A quarter of the delivery's age, or 0 while that is shorter than a pause. The wait uses at most two tiers, because
 * each tier costs a write.
 */
function grownMs(ageMs: number, pauseMs: number): number {
  const wantedMs = ageMs * GROWTH;
  if (wantedMs < pauseMs) return 0;
  const firstMs = tierFor(wantedMs).delayMs;
  const restMs = wantedMs - firstMs;
  return firstMs + SOONEST_MS + (restMs < SOONEST_MS ? 0 : tierFor(restMs).delayMs);
}

/**
 * Milliseconds until a delivery to a failing endpoint is retried: at the next probe, plus a share of the breaker's
 * pause, which spreads a backlog. Retries come first and probe, because an endpoint may refuse every first attempt.
 */
export function untilProbeMs(
  { breaker }: EndpointState,
  { ageMs, leastMs, retried, now, random }: Deferral,
): number {
  const { pauseMs, probeAt } = breaker;
  const isDue = now >= probeAt;
  const spreadMs = retried && !isDue ? 0 : pauseMs * GROWTH * (GROWTH + random);
  const untilMs = Math.max(probeAt - now, leastMs) + spreadMs;
  return Math.max(wholeTiers(untilMs), grownMs(ageMs, pauseMs));
}

/**
 * Milliseconds until a delivery to a busy endpoint is retried: at the endpoint's next free slot (GCRA, ITU-T I.371),
 * which spreads a backlog. Without a free slot within the horizon, it is retried near the horizon's end.
 */
export function untilSlotMs(
  endpoint: EndpointState,
  { ageMs, leastMs, now, random }: Deferral,
  limit: number,
): number {
  const earliest = now + leastMs;
  const latest = earliest + Math.max(HORIZON_MS, ageMs);
  const at = Math.max(earliest, endpoint.nextSlotAt);
  if (at > latest) return latest - now - random * GROWTH * (latest - earliest);
  endpoint.nextSlotAt = at + (endpoint.meanMs || SOONEST_MS) / limit;
  return at - now;
}
