import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** True when the program answers. Tests that need a missing one are skipped and say so; `.ci/run` installs them. */
export const has = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** A Python with confluent-kafka, as `.ci/tools` makes it. */
export const python = process.env['CI_PYTHON'];

/** `it`, or a skipped test whose name says what was missing. */
export const needs = (tool: string, present: boolean): typeof it => {
  if (!present) process.stdout.write(`skipped: ${tool} is not on this machine\n`);
  return present ? it : it.skip;
};

/** Runs a program with text on its standard input; rejects with what it printed when it fails or takes over a minute. */
export async function feedProgram(program: string, args: readonly string[], input: string): Promise<void> {
  const child = run(program, [...args], { timeout: 60_000, maxBuffer: 16_777_216 });
  child.child.stdin?.end(input);
  await child;
}
