import type { EndpointState } from './endpoint-state.js';

/** From one tick of our event loop to the next, milliseconds: the resolution of all that admission measures. */
export const TICK_MS = 50;
/** Two ticks without an end, milliseconds: less is chance, or our own scheduling. */
const STALLED_MS = 100;
/** Attempts under way that say something about an endpoint: one that hangs between two bursts does not ("the next burst"). */
export const SEVERAL = 8;

/**
 * For how long several attempts are under way (or as many as there may be) and none has ended, milliseconds; 0 while that is
 * no stall. Ticks are counted, not time: when our own event loop pauses, one tick passes for everybody.
 *
 * Beyond the four rules, because the simulation "an endpoint that hangs (3 of ten) delays nobody else" fails without it: the
 * queues of those that hang fill the memory until their attempts time out, and the live topics stop for all, for 8 s.
 */
export function stalledMs(endpoint: EndpointState, tick: number, limit: number): number {
  if (endpoint.busy < Math.min(SEVERAL, limit)) return 0;
  const stillMs = (tick - endpoint.movedTick) * TICK_MS;
  return stillMs > STALLED_MS ? stillMs : 0;
}
