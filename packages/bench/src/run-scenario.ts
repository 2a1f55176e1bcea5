import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { VoidRun } from './measure/void-run.js';
import type { RunReport, VoidReport } from './report/figure.js';
import { formatRun, formatVoid } from './report/table.js';
import type { Scenario, Shared, Sizes, Stage } from './scenarios/scenario.js';
import { openWorld } from './world/world.js';
import type { World } from './world/world.js';

export interface ScenarioOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly sizes: Partial<Sizes>;
  readonly whole: boolean;
  readonly shared: Shared;
  /** Folder for the data of its worlds. */
  readonly dataDir: string;
  readonly print: (line: string) => void;
  /** A fault to be tested with, see `ReceiverPlan`. */
  readonly dropReceipt?: number;
}

/** What a scenario has shown, and which of its runs are void. */
export interface ScenarioOutcome {
  readonly reports: readonly RunReport[];
  readonly voids: readonly VoidReport[];
}

/** Runs one scenario on worlds of its own, which are gone when it has ended. */
export async function runScenario(options: ScenarioOptions): Promise<ScenarioOutcome> {
  const { name, scenario, print } = options;
  const reports: RunReport[] = [];
  const voids: VoidReport[] = [];
  const worlds: World[] = [];
  const printAll = (lines: readonly string[]): void => {
    for (const line of lines) print(line);
  };
  const noteVoid = (run: string, error: unknown): void => {
    const why = error instanceof Error ? error.message : String(error);
    const report = { scenario: name, run, why };
    voids.push(report);
    printAll(formatVoid(report));
  };
  const stage: Stage = {
    sizes: { ...(options.whole ? scenario.whole : scenario.usual), ...options.sizes },
    whole: options.whole,
    shared: options.shared,
    print,
    openWorld: async (wanted) => {
      const dataDir = join(options.dataDir, `${name}-${worlds.length}`);
      const fault = options.dropReceipt === undefined ? {} : { dropReceipt: options.dropReceipt };
      const world = await openWorld({ ...wanted, ...fault, dataDir });
      worlds.push(world);
      return world;
    },
    run: async (run, work) => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof VoidRun)) throw error;
        noteVoid(run, error);
        return undefined;
      }
    },
    report: (report) => {
      reports.push({ scenario: name, ...report });
      printAll(formatRun({ scenario: name, ...report }));
    },
  };
  try {
    await scenario.measure(stage);
  } catch (error) {
    // Not the ledger but something else went wrong; the other scenarios can still be measured.
    noteVoid('all of it', error);
  } finally {
    for (const world of worlds.reverse()) await world.close();
    rmSync(options.dataDir, { recursive: true, force: true });
  }
  return { reports, voids };
}
