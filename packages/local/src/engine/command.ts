import { execFile } from 'node:child_process';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

interface CommandResult {
  /** 0 for success; undefined when the command could not be started or was ended by a signal. */
  readonly code: number | undefined;
  /** Standard output and standard error together. */
  readonly output: string;
}

interface CommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command and resolves when it has ended; never rejects. A command with more than 16 MiB of output is ended. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { timeoutMs: timeout, cwd } = options;
    const settings = { timeout, cwd, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, ...options.env } };
    execFile(command, args, settings, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      if (error === null) resolve({ code: 0, output });
      else {
        const code = typeof error.code === 'number' ? error.code : undefined;
        resolve({ code, output: output === '' ? error.message : output });
      }
    });
  });
}

/** Returns the last `count` lines that are neither empty nor a frame of a stack trace. Five are enough for an error and its cause. */
export function lastLines(text: string, count = 5): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+(at |\.\.\. \d+ more|File ")/.test(line))
    .slice(-count)
    .join('\n');
}

/** Returns the message of a thrown value, also of an error from another realm, where `instanceof` fails. */
export function errorText(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  return String(error);
}
