import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the folder of armed points to the services of a run. */
export const FOLDER_VARIABLE = 'CHAOS_POINTS';

const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';

/** Renames; false when the file is not there any more: of several who try, one succeeds. */
function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Arms a point: the next process that passes it dies there. */
export function arm(folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder))
    if (file.startsWith(`${name}.`)) rmSync(join(folder, file), { force: true });
  writeFileSync(join(folder, name), '');
}

/** Disarms a point; false when it has been passed meanwhile. */
export const disarm = (folder: string, name: string): boolean =>
  rename(join(folder, name), join(folder, `${name}.0`));

/** Takes what is armed, once, and leaves the id of this process there. */
export function takeArmed(folder: string, name: string): boolean {
  const armed = join(folder, name);
  // Points are passed thousands of times, and armed once: a look costs less than a failure.
  return existsSync(armed) && rename(armed, `${armed}.${process.pid}`);
}

/** Id of the process that died at the point; undefined while none has passed it. */
export function whoPassed(folder: string, name: string): number | undefined {
  const left = readdirSync(folder).find((file) => file.startsWith(`${name}.`));
  return left === undefined ? undefined : Number(left.slice(name.length + 1));
}
