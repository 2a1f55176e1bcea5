import type { Pass, PassEnd } from './gate-types.js';

/** What the attempt says about its endpoint. True when the breaker opened by it. */
export function learn({ lane, probe }: Pass, end: PassEnd, now: number): boolean {
  if (end.kind === 'failed') return lane.noteFailure({ ...end, probe }, now);
  if (end.kind === 'succeeded') lane.noteSuccess(end.durationMs);
  else if (probe !== undefined) lane.breaker.dropProbe(probe);
  return false;
}
