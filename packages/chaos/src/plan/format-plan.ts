import type { Step } from './plan.js';

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** The plan as it is printed before it starts: a line for each step. */
export const formatPlan = (steps: readonly Step[]): readonly string[] =>
  steps.map(
    ({ atMs, lastsMs, fault, target }) =>
      `${seconds(atMs).padStart(7)} s  ${fault} ${target}${lastsMs > 0 ? ` for ${seconds(lastsMs)} s` : ''}`,
  );
