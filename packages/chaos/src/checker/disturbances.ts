import type { DoneStep } from '../run-plan.js';

/**
 * Processes that no delivery depends on, and their links: whatever becomes of them, a worker's group and commits stay. An
 * event that a door wrote twice is a copy on the topic, which counts of its own.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(['config-api', 'ingest', 'query-api', 'mongodb']);

/** What may have hit a worker, or what a worker needs, or one of these targets. What was passed over found nothing to hit: it excuses nothing. */
export const findDisturbances = (steps: readonly DoneStep[], ...targets: string[]): readonly DoneStep[] =>
  steps.filter(
    ({ lane, target, outcome }) =>
      outcome !== 'passed-over' &&
      (targets.includes(target) || (lane === 'system' && !ELSEWHERE.has(target))),
  );
