import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

const PROGRAMS = join(import.meta.dirname, '..', 'dist', 'test', 'programs');

export interface RunningProgram {
  readonly child: ChildProcess;
  /** The first line it prints; rejects when it ends before. */
  readonly firstLine: Promise<string>;
}

/** Starts one of `test/programs` (as built) in a process of its own. */
export function runProgram(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningProgram {
  const file = join(PROGRAMS, `${name}.js`);
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('exit', (code) =>
      reject(new Error(`${name} ended with ${String(code)} before it printed a line`)),
    );
  });
  return { child, firstLine };
}
