import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually, isObject } from '@webhooks/testkit';

/** The built service as a process of its own. */
export interface ServiceProcess {
  /** Where it listens, as soon as it does. */
  url(): Promise<string>;
  /** The first log line with this message, as soon as it is there. */
  line(message: string): Promise<Readonly<Record<string, unknown>>>;
  errors(): string;
  kill(signal: NodeJS.Signals): void;
  /** The exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

function parseLine(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Starts it with this environment and nothing else of ours. */
export function startProcess(env: Readonly<Record<string, string>>): ServiceProcess {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const line: ServiceProcess['line'] = (message) =>
    eventually(
      () =>
        output
          .split('\n')
          .map(parseLine)
          .find((entry) => entry['message'] === message) ?? false,
      { timeoutMs: 20_000, message: `the log says "${message}"` },
    );
  return {
    url: async () => {
      const { port } = await line('listening');
      return `http://127.0.0.1:${String(port)}`;
    },
    line,
    errors: () => errors,
    kill: (signal) => child.kill(signal),
    exited,
  };
}
