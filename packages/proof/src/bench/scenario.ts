import { rmSync } from 'node:fs';
import { formatRun } from './report.js';
import type { Shown, RunReport, VoidReport } from './report.js';
import { openWorld } from './world/world.js';
import type { World, WorldOptions } from './world/world.js';
import { VoidRun } from './measure.js';

/** How much a scenario does. Each says itself what it counts and for how long. */
export interface Sizes {
  readonly count: number;
  readonly seconds: number;
  /** Of a fan-out that comes at once; `attacks` alone has one. */
  readonly fanOut?: { readonly webhooks: number; readonly events: number };
}

/** What a scenario measures with. */
export interface ScenarioContext {
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
  readonly measure: (context: ScenarioContext) => Promise<void>;
}

interface ScenarioOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly sizes: Sizes;
  /** Folder for the data of its worlds, one after the other; it is removed with each. */
  readonly dataDir: string;
  readonly print: (line: string) => void;
}

/**
 * Runs one scenario on worlds of its own, which it closes. Returns what it has shown, and which of its runs are void.
 */
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
    // Not the delivery account but something else went wrong; the other scenarios can still be measured.
    noteVoid('all of it', error);
  } finally {
    await closeWorld();
  }
  return { reports, voids };
}
export type ScenarioOutcome = Awaited<ReturnType<typeof runScenario>>;
