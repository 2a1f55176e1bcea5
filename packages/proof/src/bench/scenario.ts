import type { Shown } from './report.js';
import type { World, WorldOptions } from './world/world.js';

/** How much a scenario does. Each says itself what it counts and for how long. */
export interface Sizes {
  readonly count: number;
  readonly seconds: number;
  /** Of a fan-out that comes at once; `attacks` alone has one. */
  readonly fanOut?: { readonly webhooks: number; readonly events: number };
}

/** What a scenario measures with. */
export interface Stage {
  readonly sizes: Sizes;
  /** Opens a world that is closed when the next one is opened, or the scenario has ended. */
  readonly openWorld: (options: Omit<WorldOptions, 'dataDir'>) => Promise<World>;
  /** Does one measurement and prints what it has shown. One that throws `VoidRun` is reported as void; others go on. */
  readonly run: (name: string, work: () => Promise<Shown>) => Promise<void>;
}

export interface Scenario {
  /** One line for the usage text, with what `count` and `seconds` mean. */
  readonly title: string;
  readonly usual: Sizes;
  /** With `--whole`. */
  readonly whole: Sizes;
  readonly measure: (stage: Stage) => Promise<void>;
}
