import { withDeadline } from './closing.js';

/**
 * What a service needs from its surroundings, by name; each check runs already, and only reads. It resolves with what
 * it found, and rejects with an error whose message names the fault and its fix.
 */
export type Checks = Readonly<Record<string, Promise<string>>>;

/** Longer than any deadline of a single request, milliseconds. */
const CHECK_MS = 20_000;

const lineOf = async (name: string, check: Promise<string>): Promise<string> => {
  try {
    return `ok     ${name}: ${await withDeadline(check, CHECK_MS, 'the check')}\n`;
  } catch (error) {
    return `fault  ${name}: ${error instanceof Error ? error.message : String(error)}\n`;
  }
};

/** Writes one line for each check. Returns the exit code: 1 when one has failed. */
export async function runChecks(checks: Checks, write: (line: string) => void): Promise<0 | 1> {
  const lines = await Promise.all(Object.entries(checks).map(([name, check]) => lineOf(name, check)));
  lines.forEach(write);
  return lines.some((line) => line.startsWith('fault')) ? 1 : 0;
}
