import { meanReference, measureReference } from '../reference/measure-reference.js';
import type { Reference } from '../reference/measure-reference.js';
import type { World } from '../world/world.js';

/** 20,000 posts take half a second of CPU to two, which getrusage counts in microseconds. */
const POSTS = 20_000;

/** Measures the reference between the runs of one world. */
export interface ReferenceTrack {
  /**
   * Does some work with the reference measured right before and right after it, at the same receiver; what was measured
   * after the work before this one is taken for the first of the two.
   */
  around<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly reference: Reference }>;
  /** The mean of all so far. */
  mean(): Reference;
}

export function trackReference({ receiver, caFile, dir }: World): ReferenceTrack {
  const measured: Reference[] = [];
  const measure = async (): Promise<Reference> => {
    const reference = await measureReference({ receiver, caFile, dir, posts: POSTS });
    measured.push(reference);
    return reference;
  };
  return {
    around: async (work) => {
      const before = measured.at(-1) ?? (await measure());
      const value = await work();
      return { value, reference: meanReference([before, await measure()]) };
    },
    mean: () => meanReference(measured),
  };
}
