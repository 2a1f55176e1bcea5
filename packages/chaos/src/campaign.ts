import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatCampaign } from './report/format-campaign.js';
import { optionsOf, storm } from './storm.js';
import type { StormOptions, StormRun } from './storm.js';

/** One run after the other, each with the next seed; true when each passed. The page of all so far is written after each. */
export async function campaign(options: StormOptions): Promise<boolean> {
  const { given, print, stopping } = options;
  const file = join(options.dataDir, 'chaos-report.md');
  const runs: StormRun[] = [];
  for (let nth = 0; nth < given.seeds && !stopping.aborted; nth += 1) {
    runs.push(await storm({ ...options, given: { ...given, seed: given.seed + nth } }));
    writeFileSync(file, formatCampaign(runs, `${optionsOf(given)} --seeds ${given.seeds}`));
  }
  print(`\nthe page of ${runs.length} runs is written to ${file}`);
  return runs.length === given.seeds && runs.every(({ passed }) => passed);
}
