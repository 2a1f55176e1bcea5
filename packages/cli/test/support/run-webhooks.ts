import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'src', 'main.js');

export type Environment = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** What it wrote so far. */
  readonly said: { out: string; err: string };
  readonly ended: Promise<Ended>;
}

/** A folder of its own for profiles, and no setting of whoever runs the tests. */
export const emptyHome = (): Environment => ({
  XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'webhooks-cli-')),
});

/** The program as it is installed, without a terminal; `input` is what it reads on standard input. */
export function start(args: readonly string[], env: Environment, input = ''): Running {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env['PATH'], LANG: 'C', NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A program that does not read it may have ended.
  child.stdin.on('error', () => undefined).end(input);
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ ...said, code: code as number | null }));
  return { child, said, ended };
}

export const run = (args: readonly string[], env: Environment, input?: string): Promise<Ended> =>
  start(args, env, input).ended;
