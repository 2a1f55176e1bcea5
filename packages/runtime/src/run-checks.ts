import { withDeadline } from './closing.js';

/**
 * One thing that a service needs from its surroundings. `run` only reads. It resolves with what it found, and rejects
 * with an error whose message names the fault and its fix.
 */
export interface Check {
  readonly name: string;
  readonly run: () => Promise<string>;
}

/** Longer than any deadline of a single request, milliseconds. */
const CHECK_MS = 20_000;

const lineOf = async ({ name, run }: Check): Promise<{ ok: boolean; text: string }> => {
  try {
    return { ok: true, text: `ok     ${name}: ${await withDeadline(run(), CHECK_MS, 'the check')}` };
  } catch (error) {
    return { ok: false, text: `fault  ${name}: ${error instanceof Error ? error.message : String(error)}` };
  }
};

/** Runs the checks side by side and writes one line for each. Returns the exit code: 1 when one has failed. */
export async function runChecks(checks: readonly Check[], write: (line: string) => void): Promise<0 | 1> {
  const lines = await Promise.all(checks.map(lineOf));
  for (const { text } of lines) write(`${text}\n`);
  return lines.every(({ ok }) => ok) ? 0 : 1;
}
