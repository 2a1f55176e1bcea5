import type { World } from './world/world.js';

/** Faults of one lane are taken back before the next begins, though what was hit may still be coming up; the two lanes run side by side. */
export type Lane = 'system' | 'receivers';

/** Takes a fault back; resolves when what was hit is up again, and rejects when it does not come back. */
export type End = () => Promise<void>;

/** One way to break something: a file of the folder `faults` exports it as its default. */
export interface Fault {
  /** As in `--faults`; also the name of its file. */
  readonly name: string;
  readonly lane: Lane;
  /** How many of its lane's draws it gets, against the weights of the others. */
  readonly weight: number;
  /** What it can hit, by names that `begin` knows. */
  readonly targets: readonly [string, ...string[]];
  /** Shortest and longest time until it is taken back, in milliseconds; a short run cuts the longest. */
  readonly lasts: readonly [least: number, most: number];
  /** The next step of its lane waits until what was hit is up again; else until it is taken back. */
  readonly alone?: true;
  /** Does it. Rejects with `NotNow` when there is nothing to hit at the moment. */
  begin(target: string, world: World): Promise<End>;
}

/** There was nothing to hit, such as a process that is just being started: the step is passed over, and told. */
export class NotNow extends Error {}
