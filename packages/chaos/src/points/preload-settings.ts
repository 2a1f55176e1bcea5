import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FOLDER_VARIABLE } from './armed.js';

/** This package's folder, whether this file is run as it is built or, in tests, as it is written. */
const PACKAGE = [join(import.meta.dirname, '..', '..'), join(import.meta.dirname, '..', '..', '..')].find(
  (folder) => existsSync(join(folder, 'package.json')),
);

/** An option of Node that loads a file of this package (as it lies in `src`) before the program. */
export function importOption(...path: readonly [string, ...string[]]): string {
  const file = join(PACKAGE ?? '', 'dist', 'src', ...path);
  if (!existsSync(file)) throw new Error('packages/chaos is not built: run npm run build');
  return `--import=${pathToFileURL(file).href}`;
}

/** Settings with which a service knows the points, and looks for armed ones in `folder`. */
export const preloadSettings = (folder: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: importOption('points', 'preload.js'),
  [FOLDER_VARIABLE]: folder,
});
