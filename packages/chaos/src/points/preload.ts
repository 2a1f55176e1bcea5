import { registerHooks } from 'node:module';
import { replaceOnce } from '../replace-once.js';
import { FOLDER_VARIABLE, takeArmed } from './armed.js';
import { POINTS } from './points.js';

/**
 * Loaded with `--import` before a service of a chaos run: puts a call at each point of the source as it is loaded. What is
 * built, and what runs elsewhere, knows nothing of it. A point that is not there exactly once ends the service at its start.
 */
const folder = process.env[FOLDER_VARIABLE];
if (folder === undefined) throw new Error(`expected ${FOLDER_VARIABLE} to name the folder of armed points`);

function passPoint(name: string): void {
  // SIGKILL, as the kernel sends it to a process that is out of memory: nothing behind this line happens.
  if (takeArmed(folder ?? '', name)) process.kill(process.pid, 'SIGKILL');
}
Object.assign(globalThis, { passPoint });

const textOf = (source: string | ArrayBuffer | NodeJS.TypedArray): string =>
  typeof source === 'string' ? source : new TextDecoder().decode(source);

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    const own = POINTS.filter(({ file }) => url.endsWith(`/${file}`));
    const { source } = loaded;
    if (own.length === 0) return loaded;
    if (!source) throw new Error(`expected the source of ${url}, in which there is a point`);
    return { ...loaded, source: own.reduce((text, one) => replaceOnce(text, one, one.name), textOf(source)) };
  },
});
