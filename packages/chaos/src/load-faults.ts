import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Fault } from './fault.js';

const FOLDER = join(import.meta.dirname, 'faults');
/** Built (`.js`) or, in tests, as it is written (`.ts`). */
const PROGRAM = /^[a-z0-9-]+\.(?:js|ts)$/;

function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'name' in value && 'begin' in value;
}

async function loadFault(file: string): Promise<Fault> {
  const loaded: unknown = await import(pathToFileURL(join(FOLDER, file)).href);
  const fault =
    typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : loaded;
  if (!isFault(fault) || fault.name !== file.replace(/\.\w+$/, ''))
    throw new Error(`faults/${file}: expected a fault of this name as the default export`);
  return fault;
}

/** Every fault there is, by name: one for each file of the folder `faults`. */
export async function loadFaults(): Promise<readonly Fault[]> {
  const files = readdirSync(FOLDER).filter((file) => PROGRAM.test(file));
  return Promise.all(files.sort().map(loadFault));
}
