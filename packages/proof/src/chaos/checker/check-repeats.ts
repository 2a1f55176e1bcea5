import type { Evidence } from '../evidence/evidence.js';
import type { DoneStep } from '../run-plan.js';
import type { CaseFile, Delivery, Finding } from './case-file.js';
import { isSuccess } from './fate.js';
import { findDisturbances } from './disturbances.js';

/**
 * What may come twice was in flight or finished and not committed. That is as old as an attempt may take
 * (10 s, one that hangs holds the commits of its partition back), and 2 s for everything else.
 */
const HELD_MS = 12_000;

/**
 * Whether something was broken between the event and 12 s after a 2xx. It does not see which worker and which partition a
 * fault hit, and what was read twice may wait in two retries for long: a run that breaks something every few seconds has
 * hardly a delivery for which this check says anything.
 */
const isExplained = (at: number, sentAt: number, steps: readonly DoneStep[]): boolean =>
  steps.some(({ startedAt, endedAt }) => startedAt <= at + HELD_MS && endedAt >= sentAt - HELD_MS);

const successesOf = ({ arrivals }: Delivery): readonly number[] =>
  arrivals
    .filter(isSuccess)
    .map(({ receivedAt }) => receivedAt)
    .sort((a, b) => a - b);

/** Each further 2xx is explained by a copy of the event, or by something that was broken before it or soon after. */
export function checkRepeats(
  { deliveries }: CaseFile,
  { steps }: Evidence,
): { readonly repeats: number; readonly findings: readonly Finding[] } {
  let repeats = 0;
  const findings: Finding[] = [];
  for (const delivery of deliveries.values()) {
    const earlier = successesOf(delivery).slice(0, -1);
    if (earlier.length === 0) continue;
    repeats += earlier.length;
    const disturbances = findDisturbances(steps, delivery.configuration.receiver);
    const unexplained = earlier.filter((at) => !isExplained(at, delivery.sent.sentAt, disturbances)).length;
    if (unexplained < delivery.copies.length) continue;
    const text = `came again though nothing that repeats was broken until ${HELD_MS / 1_000} s after its 2xx`;
    findings.push({ kind: 'unexplained-repeat', text, delivery });
  }
  return { repeats, findings };
}
