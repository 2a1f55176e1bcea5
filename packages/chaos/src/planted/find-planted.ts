import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Print } from '@webhooks/ledger';
import { copyTree } from './copy-tree.js';
import { plant } from './plant.js';
import type { Planted } from './planted.js';
import { runSuite } from './run-suite.js';
import type { SuiteResult } from './run-suite.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..', '..');
const COPY = join(ROOT, '.data', `planted-${process.pid}`);
/** Then the run is ended in order: a bug has to be found within five minutes. */
const DEADLINE_MS = 300_000;

/** One run of the suite in the copy. */
type Suite = (options: readonly string[]) => Promise<SuiteResult>;

const secondsSince = (startedAt: number): string => ((performance.now() - startedAt) / 1_000).toFixed(0);

async function isFound(planted: Planted, suite: Suite, print: Print): Promise<boolean> {
  const startedAt = performance.now();
  const takeBack = plant(COPY, planted);
  try {
    const { findings } = await suite(planted.options);
    const count = findings.filter(({ kind }) => kind === planted.expects).length;
    const how = count > 0 ? `found, ${count} × ${planted.expects}` : 'NOT FOUND';
    print(`${planted.name} (${planted.about}): ${how} after ${secondsSince(startedAt)} s`);
    return count > 0;
  } finally {
    takeBack();
  }
}

/** The same run with nothing planted: what it found as well would be no sign of the bug. */
async function isClean(options: readonly string[], suite: Suite, print: Print): Promise<boolean> {
  const startedAt = performance.now();
  const { status, findings } = await suite(options);
  const what =
    findings.length > 0 ? findings.map(({ kind }) => kind).join(', ') : `exit code ${status ?? 'none'}`;
  const how = status === 0 ? 'clean' : `NOT CLEAN: ${what},`;
  print(`nothing planted (${options.join(' ')}): ${how} after ${secondsSince(startedAt)} s`);
  return status === 0;
}

/** Each set of options once. */
const distinctOptions = (bugs: readonly Planted[]): readonly (readonly string[])[] => [
  ...new Map(bugs.map(({ options }) => [options.join(' '), options])).values(),
];

/** What did not come out as it should. */
export interface PlantedResult {
  /** Names of the bugs that were not found. */
  readonly missed: readonly string[];
  /** Options of the runs that were not clean with nothing planted. */
  readonly unclean: readonly string[];
}

async function runAll(bugs: readonly Planted[], suite: Suite, print: Print): Promise<PlantedResult> {
  const missed: string[] = [];
  const unclean: string[] = [];
  for (const options of distinctOptions(bugs))
    if (!(await isClean(options, suite, print))) unclean.push(options.join(' '));
  for (const planted of bugs) if (!(await isFound(planted, suite, print))) missed.push(planted.name);
  return { missed, unclean };
}

/**
 * Plants each bug into a copy of the built tree, runs the suite there and expects that it finds it: who proves that nothing
 * is lost has to show that it would see it. Before, each run is made once with nothing planted, and has to be clean. Whoever
 * stops it gets what is left as not found.
 */
export async function findPlanted(
  bugs: readonly Planted[],
  stopping: AbortSignal,
  print: Print,
): Promise<PlantedResult> {
  const suite: Suite = (options) => {
    if (stopping.aborted) return Promise.resolve({ status: undefined, findings: [] });
    return runSuite({ root: COPY, options, deadlineMs: DEADLINE_MS, stopping });
  };
  try {
    copyTree(ROOT, COPY);
    return await runAll(bugs, suite, print);
  } finally {
    rmSync(COPY, { recursive: true, force: true });
  }
}
