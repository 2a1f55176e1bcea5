import type { World } from './world/world.js';

/** Faults of one lane are taken back before the next begins, though what was hit may still be coming up; the lanes run side by side. */
export const LANES = ['system', 'receivers', 'topics'] as const;
export type Lane = (typeof LANES)[number];

/** Takes a fault back; resolves when what was hit is up again, and rejects when it does not come back. */
export type End = () => Promise<void> | void;

/** One way to break something. */
export interface Fault {
  /** As in `--faults`. */
  readonly name: string;
  readonly lane: Lane;
  /** How many of its lane's draws it gets, against the weights of the others. */
  readonly weight: number;
  /** What it can hit, by names that `begin` knows. */
  readonly targets: readonly [string, ...string[]];
  /** Shortest and longest time until it is taken back, in milliseconds; a short run cuts the longest. */
  readonly lasts: readonly [least: number, most: number];
  /** Does it. Throws `NotNow` when there is nothing to hit at the moment. */
  begin(target: string, world: World): Promise<End> | End;
}

/** There was nothing to hit, such as a process that is just being started: the step is passed over, and reported. */
export class NotNow extends Error {}
