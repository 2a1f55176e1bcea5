import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BUILT = join(import.meta.dirname, '..', '..', 'dist');
const PROGRAM = join(BUILT, 'src', 'main.js');
const HOST = join(BUILT, 'test', 'support', 'webhooks-host.js');

export type Environment = Readonly<Record<string, string>>;

export interface CommandLine {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

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

const environment = (env: Environment): NodeJS.ProcessEnv => ({
  ...{ PATH: process.env['PATH'], LANG: 'C', NO_COLOR: '1' },
  ...env,
});

/** The program as it is installed, without a terminal; `input` is what it reads on standard input. */
export function start(args: readonly string[], env: Environment, input = ''): Running {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: environment(env),
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

/** A process of its own: where its end, its streams or its input are what is tested. */
export const runProcess = (args: readonly string[], env: Environment, input?: string): Promise<Ended> =>
  start(args, env, input).ended;

interface Host {
  readonly child: ChildProcess;
  readonly ended: Promise<never>;
  /** Fulfilled when it is free. */
  free: Promise<unknown>;
}

/** By the file of further authorities, which Node reads once. */
const hosts = new Map<string, Host>();
afterAll(() => {
  for (const { child } of hosts.values()) child.kill();
});

function hostFor(env: Environment): Host {
  const { NODE_EXTRA_CA_CERTS: caFile = '' } = env;
  const known = hosts.get(caFile);
  if (known) return known;
  const child = fork(HOST, {
    env: environment(env),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a command ended the process of all (${String(code)})`);
  });
  const host = { child, ended, free: Promise.resolve() };
  hosts.set(caFile, host);
  return host;
}

/** One command line without a terminal and without input, in a process that runs many: starting Node costs half a second. */
export function run(args: readonly string[], env: Environment): Promise<Ended> {
  const host = hostFor(env);
  const ended = host.free.then(async () => {
    host.child.send({ args, env: environment(env) });
    const [result] = (await Promise.race([once(host.child, 'message'), host.ended])) as [Ended];
    return result;
  });
  host.free = ended.catch(() => undefined);
  return ended;
}
