import { tierFor, wholeTiers } from '@webhooks/contracts';
import type { EndpointState } from './endpoint-state.js';

/** Shortest wait in Kafka, milliseconds: its shortest tier. */
export const SOONEST_MS = 1_000;
/** How far ahead slots of a busy endpoint are given at first, milliseconds: later as far as the delivery is old. */
export const HORIZON_MS = 30_000;
/** Waits grow by this share of the time already waited: 37 deferrals in 8 days (40 are allowed), and a quarter of an outage. */
const GROWTH = 1 / 4;

/** Who is deferred, and when; `now` is monotonic. */
export interface Deferral {
  /** Since it was first due, milliseconds; of a retry since its endpoint fails. */
  readonly ageMs: number;
  /** See `leastWaitMs`. */
  readonly leastMs: number;
  /** It has been attempted before. */
  readonly retried: boolean;
  readonly now: number;
  /** Between 0 (inclusive) and 1. */
  readonly random: number;
}

/**
 * The shortest wait: longer with each deferral, so that an endpoint that is up and down all day does not use up more than 40 within hours;
 * at most a share of the delivery's whole age, whatever it was deferred for.
 */
export const leastWaitMs = (deferrals: number, ageMs: number): number =>
  Math.max(SOONEST_MS, Math.min(SOONEST_MS * (1 + GROWTH) ** deferrals, ageMs * GROWTH));

/** A share of its age, once that is more than a pause. It passes two tiers at most, because each is a write; moving takes a second. */
function grownMs(ageMs: number, pauseMs: number): number {
  const wantedMs = ageMs * GROWTH;
  if (wantedMs < pauseMs) return 0;
  const firstMs = tierFor(wantedMs).delayMs;
  const restMs = wantedMs - firstMs;
  return firstMs + SOONEST_MS + (restMs < SOONEST_MS ? 0 : tierFor(restMs).delayMs);
}

/**
 * Milliseconds until a delivery is looked at again whose endpoint is down: at the next probe, or later within a share of the
 * pause before it, so that a backlog does not arrive in one moment. What has been attempted before comes first and probes: an
 * endpoint that refuses each first attempt would refuse each probe otherwise.
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
 * Milliseconds until a delivery is looked at again whose endpoint does less than it is sent: at the next slot at its pace
 * (GCRA, ITU-T I.371), so that a backlog returns spread over the time it needs. One that finds no slot within the horizon
 * comes at the end of it.
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
