import { setTimeout as sleep } from 'node:timers/promises';
import type { Gate } from './gate/gate-types.js';
import { FAST_MS } from './gate/patience.js';

const LOOK_EVERY_MS = 25;

export interface LetSlowEndPorts {
  readonly gate: Pick<Gate, 'onlyFast'>;
  /** For how long the oldest attempt has been under way, milliseconds; 0 when there is none. */
  readonly oldestAttemptMs: () => number;
  /** As long as an attempt may take. */
  readonly deadlineMs: number;
}

/**
 * The first part of an orderly leave. A member of a group gives up all its partitions at once, and what is under way then
 * is repeated by their next owner. So slow attempts end first, and meanwhile fast endpoints get their notifications as
 * ever; what is left after it ends in a moment, and only that moment nobody delivers from these partitions.
 */
export async function letSlowEnd({ gate, oldestAttemptMs, deadlineMs }: LetSlowEndPorts): Promise<void> {
  const beganAt = performance.now();
  gate.onlyFast();
  const passedMs = (): number => performance.now() - beganAt;
  // What is under way now shows within that time whether it is slow.
  const isBrief = (): boolean => passedMs() > FAST_MS && oldestAttemptMs() <= FAST_MS;
  while (oldestAttemptMs() > 0 && !isBrief() && passedMs() < deadlineMs) await sleep(LOOK_EVERY_MS);
}
