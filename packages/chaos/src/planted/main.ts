import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyTree } from './copy-tree.js';
import { plant } from './plant.js';
import { PLANTED } from './planted.js';
import type { Planted } from './planted.js';

/**
 * Plants each bug into a copy of the built tree, runs the suite there and expects that it finds it: who proves that nothing
 * is lost has to show that it would see it. The exit code is 0 only if every bug was found.
 */
const ROOT = join(import.meta.dirname, '..', '..', '..', '..', '..');
const COPY = join(ROOT, '.data', `planted-${process.pid}`);
/** Then the run is ended in order: a bug has to be found within five minutes. */
const DEADLINE_MS = 300_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

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

function isFound(planted: Planted): boolean {
  const startedAt = performance.now();
  const takeBack = plant(COPY, planted);
  try {
    const findings = runSuite(planted);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    const how = findings > 0 ? `found, ${findings} × ${planted.expects}` : 'NOT FOUND';
    print(`${planted.name}: ${how} after ${seconds} s`);
    return findings > 0;
  } finally {
    takeBack();
  }
}

try {
  copyTree(ROOT, COPY);
  const missed = PLANTED.filter((planted) => !isFound(planted));
  process.exitCode = missed.length === 0 ? 0 : 1;
} finally {
  rmSync(COPY, { recursive: true, force: true });
}
