import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChaosArguments } from '../read-arguments.js';
import { readDoors } from './doors.js';
import { formatFuzz, isClean } from './format-fuzz.js';
import { runFuzz } from './run-fuzz.js';
import type { FuzzOptions } from './run-fuzz.js';

/** `npm run chaos -- --fuzz`: one run, told line by line. Resolves with the exit code; what failed is kept in the folder. */
export async function fuzz(
  { seed, minutes, doors, from }: ChaosArguments,
  { dataDir, stopping, print }: Pick<FuzzOptions, 'dataDir' | 'stopping' | 'print'>,
): Promise<number> {
  const names = readDoors(doors);
  mkdirSync(dataDir, { recursive: true });
  const durationMs = 60_000 * minutes;
  const result = await runFuzz({ seed, doors: names, from, durationMs, dataDir, stopping, print });
  const lines = formatFuzz(result, seed);
  for (const line of lines) print(line);
  if (isClean(result)) {
    rmSync(dataDir, { recursive: true, force: true });
    return 0;
  }
  writeFileSync(join(dataDir, 'findings.txt'), `${lines.join('\n')}\n`);
  print(`everything is kept in ${dataDir}`);
  return 1;
}
