import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatCampaign } from './report/format-campaign.js';
import { optionsOf, storm } from './storm.js';
import type { StormOptions, StormRun } from './storm.js';

/** A run that came to no verdict, because something of the runner itself failed. */
export interface BrokenRun {
  readonly seed: number;
  readonly why: string;
}

async function runOne(options: StormOptions): Promise<StormRun | BrokenRun> {
  const { seed } = options.given;
  try {
    return await storm(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    options.print(`seed ${seed} came to no verdict: ${error instanceof Error ? String(error.stack) : why}`);
    return { seed, why };
  }
}

/** One run after the other, each with the next seed; true when each passed. The page of all so far is written after each. */
export async function campaign(options: Omit<StormOptions, 'resultFile'>): Promise<boolean> {
  const { given, print, stopping } = options;
  const file = join(options.dataDir, 'chaos-report.md');
  const runs: (StormRun | BrokenRun)[] = [];
  for (let nth = 0; nth < given.seeds && !stopping.aborted; nth += 1) {
    const seed = given.seed + nth;
    runs.push(await runOne({ ...options, given: { ...given, seed }, resultFile: `chaos-${seed}.json` }));
    writeFileSync(file, formatCampaign(runs, { runs: given.seeds, options: optionsOf(given) }));
  }
  print(`\nthe page of ${runs.length} of ${given.seeds} runs is written to ${file}`);
  return runs.length === given.seeds && runs.every((run) => 'passed' in run && run.passed);
}
