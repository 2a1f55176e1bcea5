import type { EndpointState } from './endpoint-state.js';
import { SHORT_MS } from './queue.js';

/** From one tick of our event loop to the next, milliseconds: the resolution of all that admission measures. */
export const TICK_MS = 50;

/**
 * For how long an endpoint at its limit has neither started nor ended an attempt, milliseconds; 0 below the
 * shortest queue deadline: so little is chance, or our own scheduling.
 * Ticks are counted, not time: when our own event loop pauses, one tick passes for everybody.
 *
 * Why it is needed: the simulation "an endpoint that hangs (twenty of thirty at once) delays the others for a moment" fails without it. The
 * queues of those that hang fill the memory until their attempts time out, and the live topics stop for all, for 8 s.
 */
export function stalledMs(endpoint: EndpointState, tick: number, limit: number): number {
  if (endpoint.busy < limit) return 0;
  const stillMs = (tick - endpoint.movedTick) * TICK_MS;
  return stillMs < SHORT_MS ? 0 : stillMs;
}
