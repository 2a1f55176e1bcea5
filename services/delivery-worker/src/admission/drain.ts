import { setTimeout as sleep } from 'node:timers/promises';
import { SOONEST_MS } from './deferral.js';
import type { EndpointState } from './endpoint-state.js';
import { TICK_MS } from './stalled.js';

/** While the worker stops nobody waits for whoever ends its attempts sooner than a deferral would take. */
export const isFast = ({ meanMs }: EndpointState): boolean => meanMs > 0 && meanMs < SOONEST_MS;

/**
 * The first part of an orderly stop. A member of a group gives up all its partitions at once, and what is under way then is
 * repeated by their next owner. So slow attempts end first, and meanwhile fast endpoints get their notifications as ever.
 * `oldestAttemptMs` says for how long the oldest attempt has been under way, 0 when there is none; `deadlineMs` is the longest that one may take.
 */
export async function drain(
  admission: { drain(): void },
  oldestAttemptMs: () => number,
  deadlineMs: number,
): Promise<void> {
  const beganAt = performance.now();
  admission.drain();
  const passedMs = (): number => performance.now() - beganAt;
  // What is under way now shows within that time whether it is slow.
  const isBrief = (): boolean => passedMs() > SOONEST_MS && oldestAttemptMs() <= SOONEST_MS;
  while (oldestAttemptMs() > 0 && !isBrief() && passedMs() < deadlineMs) await sleep(TICK_MS);
}
