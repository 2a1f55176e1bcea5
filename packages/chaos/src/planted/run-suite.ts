import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface SuiteRun {
  /** Root of the built tree. */
  readonly root: string;
  readonly options: readonly string[];
  /** Then the run is ended in order, milliseconds. */
  readonly deadlineMs: number;
  /** Ends the run in order, too. */
  readonly stopping: AbortSignal;
}

export interface SuiteResult {
  /** Its exit code; undefined when it did not end by itself. */
  readonly status: number | undefined;
  readonly findings: readonly { readonly kind: string }[];
}

/** Mending, draining and reading the evidence have deadlines of their own, together below this. */
const END_MS = 600_000;

/** Runs it; the first signal ends it in order, and when that is of no use it is ended at once. */
async function runProgram(
  program: string,
  { options, deadlineMs, stopping }: SuiteRun,
): Promise<number | undefined> {
  // A group of its own: Ctrl-C comes through `stopping`, once; a second signal would end it at once.
  const child = spawn(process.execPath, [program, ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  let force: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.kill('SIGINT');
    force ??= setTimeout(() => child.kill('SIGKILL'), END_MS);
  };
  const timer = setTimeout(end, deadlineMs);
  stopping.addEventListener('abort', end, { once: true });
  if (stopping.aborted) end();
  try {
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? undefined;
  } finally {
    clearTimeout(timer);
    clearTimeout(force);
    stopping.removeEventListener('abort', end);
  }
}

/** Undefined when the run broke before it had a verdict: Node ends with 1 for that, too. */
function readFindings(file: string): SuiteResult['findings'] | undefined {
  if (!existsSync(file)) return undefined;
  const { findings } = JSON.parse(readFileSync(file, 'utf8')) as Pick<SuiteResult, 'findings'>;
  return findings;
}

/** One run of the suite of a built tree, and what it found, also when it had to be ended. Rejects when it cannot be started. */
export async function runSuite(run: SuiteRun): Promise<SuiteResult> {
  const file = join(run.root, '.data', 'chaos.json');
  rmSync(file, { force: true });
  const status = await runProgram(join(run.root, 'packages', 'chaos', 'dist', 'src', 'main.js'), run);
  const findings = status === 0 || status === 1 ? readFindings(file) : [];
  return findings ? { status, findings } : { status: undefined, findings: [] };
}
