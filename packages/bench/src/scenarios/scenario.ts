import type { RunReport } from '../report/figure.js';
import type { World, WorldOptions } from '../world/world.js';

/** How much a scenario does. Each says itself what it counts and for how long. */
export interface Sizes {
  readonly count: number;
  readonly seconds: number;
}

/** What scenarios of one run of the bench know of each other. */
export interface Shared {
  /** Events a second that the worker took with one endpoint, once `throughput` has found it. */
  eventsPerSecond?: number;
}

/** What a scenario measures with. */
export interface Stage {
  readonly sizes: Sizes;
  /** True when everything is to be run as the issue says, however long it takes. */
  readonly whole: boolean;
  readonly shared: Shared;
  readonly print: (line: string) => void;
  /** Opens a world that is closed when the scenario has ended. */
  readonly openWorld: (options: Omit<WorldOptions, 'dataDir'>) => Promise<World>;
  /** Does one measurement. One that throws `VoidRun` is told as void and gives undefined; others go on. */
  readonly run: <T>(name: string, work: () => Promise<T>) => Promise<T | undefined>;
  readonly report: (report: Omit<RunReport, 'scenario'>) => void;
}

export interface Scenario {
  /** One line for the usage text. */
  readonly title: string;
  /** What `count` and `seconds` mean here, and how much is done by default. */
  readonly usual: Sizes;
  /** With `--whole`. */
  readonly whole: Sizes;
  readonly measure: (stage: Stage) => Promise<void>;
}
