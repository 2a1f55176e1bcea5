import { execFile } from 'node:child_process';

export interface CommandResult {
  /** 0 when it went well; undefined when the command could not be started or was ended by a signal. */
  readonly code: number | undefined;
  /** Standard output and standard error together. */
  readonly output: string;
}

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
}

/** Runs a command to its end and never throws; output above 16 MiB ends it. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const settings = { timeout: options.timeoutMs, maxBuffer: 16 * 1024 * 1024, cwd: options.cwd };
    execFile(command, args, settings, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      if (error === null) resolve({ code: 0, output });
      else resolve({ code: exitCode(error.code), output: output === '' ? error.message : output });
    });
  });
}

function exitCode(code: unknown): number | undefined {
  return typeof code === 'number' ? code : undefined;
}

/** The last `count` lines that are not empty. */
export function lastLines(text: string, count: number): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
}
