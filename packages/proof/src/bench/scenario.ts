import { rmSync } from 'node:fs';
import { formatRun } from './report.js';
import type { Measurement, RunReport, VoidReport } from './report.js';
import { openWorld } from './world/world.js';
import type { World, WorldOptions } from './world/world.js';
import { VoidRun } from './measure.js';

/** The size of a scenario. Its title says what `count` and `seconds` mean. */
export interface Sizes {
  readonly count: number;
  readonly seconds: number;
  /** Size of a burst with a large fan-out; only `attacks` has one. */
  readonly fanOut?: { readonly webhooks: number; readonly events: number };
}

/** What the runner provides to a scenario. */
export interface ScenarioContext {
  readonly sizes: Sizes;
  /** Opens a world that is closed when the next one is opened, or the scenario has ended. */
  readonly openWorld: (options: Omit<WorldOptions, 'dataDir'>) => Promise<World>;
  /** Runs one measurement and prints its result. One that throws `VoidRun` is reported as void, and the scenario continues. */
  readonly run: (name: string, work: () => Promise<Measurement>) => Promise<void>;
}

export interface Scenario {
  /** One line for the usage text, with what `count` and `seconds` mean. */
  readonly title: string;
  readonly usual: Sizes;
  /** With `--whole`. */
  readonly whole: Sizes;
  readonly measure: (context: ScenarioContext) => Promise<void>;
}

interface ScenarioOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly sizes: Sizes;
  /** Data folder of the scenario's worlds; removed after each of them. */
  readonly dataDir: string;
  readonly print: (line: string) => void;
}

/** Runs one scenario on its own worlds, and closes them. Returns the reports of its runs, and the void ones. */
export async function runScenario(options: ScenarioOptions) {
  const { name, scenario, sizes, dataDir, print } = options;
  const reports: RunReport[] = [];
  const voids: VoidReport[] = [];
  let world: World | undefined;
  const closeWorld = async (): Promise<void> => {
    await world?.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const noteVoid = (run: string, error: unknown): void => {
    const why = error instanceof Error ? error.message : String(error);
    voids.push({ scenario: name, run, why });
    ['', `${name}: ${run}`, `  void: ${why}`].forEach(print);
  };
  try {
    await scenario.measure({
      sizes,
      openWorld: async (wanted) => {
        await closeWorld();
        return (world = await openWorld({ ...wanted, dataDir }));
      },
      run: async (run, work) => {
        try {
          const report = { scenario: name, run, ...(await work()) };
          reports.push(report);
          formatRun(report).forEach(print);
        } catch (error) {
          if (!(error instanceof VoidRun)) throw error;
          noteVoid(run, error);
        }
      },
    });
  } catch (error) {
    // A fault other than an unbalanced delivery account. The other scenarios can still be measured.
    noteVoid('the rest of its runs', error);
  } finally {
    await closeWorld();
  }
  return { reports, voids };
}
export type ScenarioOutcome = Awaited<ReturnType<typeof runScenario>>;
