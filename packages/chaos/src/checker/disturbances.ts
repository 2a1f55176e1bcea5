import { POINTS } from '../points/points.js';
import type { DoneStep } from '../run-plan.js';

/**
 * Processes that no delivery depends on, and their links: whatever becomes of them, a worker's group and commits stay. An
 * event that a door wrote twice is a copy on the topic, which counts of its own.
 */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...['config-api', 'ingest', 'query-api', 'mongodb'],
  ...POINTS.filter(({ service }) => service !== 'delivery-worker').map(({ name }) => name),
]);

/** Who is passed over after it has begun: the workers were stopped, or a visitor has joined their group. */
const ACTS_FIRST: ReadonlySet<string> = new Set(['rebalance', 'reset-offsets']);

/** What was passed over found nothing to hit: it excuses nothing. */
const didSomething = ({ outcome, fault }: DoneStep): boolean =>
  outcome !== 'passed-over' || ACTS_FIRST.has(fault);

/** Whether it may have hit a worker, or what a worker needs. */
const hitsWorkers = ({ lane, target }: DoneStep): boolean => lane === 'system' && !ELSEWHERE.has(target);

/** What may have held the workers up. */
export const findHindrances = (steps: readonly DoneStep[]): readonly DoneStep[] =>
  steps.filter((step) => didSomething(step) && hitsWorkers(step));

/** When something was broken that may make deliveries to this receiver come again. */
export const findDisturbances = (steps: readonly DoneStep[], receiver: string): readonly DoneStep[] =>
  steps.filter(
    (step) => didSomething(step) && (step.lane === 'system' ? hitsWorkers(step) : step.target === receiver),
  );
