import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FOLDER_VARIABLE } from './armed.js';

/** This package's folder, whether this file is run as it is built or, in tests, as it is written. */
const PACKAGE = [join(import.meta.dirname, '..', '..'), join(import.meta.dirname, '..', '..', '..')].find(
  (folder) => existsSync(join(folder, 'package.json')),
);

/** Settings with which a service knows the points, and looks for armed ones in `folder`. */
export function preloadSettings(folder: string): Readonly<Record<string, string>> {
  const file = join(PACKAGE ?? '', 'dist', 'src', 'points', 'preload.js');
  if (!existsSync(file)) throw new Error('packages/chaos is not built: run npm run build');
  return { NODE_OPTIONS: `--import=${pathToFileURL(file).href}`, [FOLDER_VARIABLE]: folder };
}
