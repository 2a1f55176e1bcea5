import type { Pass, PassEnd } from './gate-types.js';

/** What the attempt says about its endpoint, and whether its breaker opened or closed by it. */
export function learn({ lane, probe }: Pass, end: PassEnd, now: number): 'opened' | 'closed' | undefined {
  if (end.kind === 'failed') return lane.noteFailure({ ...end, probe }, now) ? 'opened' : undefined;
  if (end.kind === 'succeeded') return lane.noteSuccess(end.durationMs, now) ? 'closed' : undefined;
  if (probe !== undefined) lane.breaker.dropProbe(probe);
  return undefined;
}
