import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Print } from '@webhooks/ledger';
import { copyTree } from './copy-tree.js';
import { plant } from './plant.js';
import type { Planted } from './planted.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..', '..');
const COPY = join(ROOT, '.data', `planted-${process.pid}`);
/** Then the run is ended in order: a bug has to be found within five minutes. */
const DEADLINE_MS = 300_000;

interface Result {
  readonly findings: readonly { readonly kind: string }[];
}

/** How many findings of the expected kind the run has. */
function runSuite({ options, expects }: Planted): number {
  const result = join(COPY, '.data', 'chaos.json');
  rmSync(result, { force: true });
  const program = join(COPY, 'packages', 'chaos', 'dist', 'src', 'main.js');
  const run = spawnSync(process.execPath, [program, ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: DEADLINE_MS,
    killSignal: 'SIGINT',
  });
  if (run.error) throw run.error;
  if (run.status !== 1) return 0;
  const { findings } = JSON.parse(readFileSync(result, 'utf8')) as Result;
  return findings.filter(({ kind }) => kind === expects).length;
}

function isFound(planted: Planted, print: Print): boolean {
  const startedAt = performance.now();
  const takeBack = plant(COPY, planted);
  try {
    const findings = runSuite(planted);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    const how = findings > 0 ? `found, ${findings} × ${planted.expects}` : 'NOT FOUND';
    print(`${planted.name} (${planted.about}): ${how} after ${seconds} s`);
    return findings > 0;
  } finally {
    takeBack();
  }
}

/**
 * Plants each bug into a copy of the built tree, runs the suite there and expects that it finds it: who proves that nothing
 * is lost has to show that it would see it. Returns the names of those that it did not find.
 */
export function findPlanted(bugs: readonly Planted[], print: Print): readonly string[] {
  try {
    copyTree(ROOT, COPY);
    return bugs.filter((planted) => !isFound(planted, print)).map(({ name }) => name);
  } finally {
    rmSync(COPY, { recursive: true, force: true });
  }
}
