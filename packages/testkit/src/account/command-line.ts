import { join } from 'node:path';

/** Where the commands of this checkout write. */
export const DATA_DIR = join(import.meta.dirname, '..', '..', '..', '..', '..', '.data');

/** A number of the command line. Throws with what was expected. */
export function readNumber(
  name: string,
  text: string,
  {
    least,
    most,
    isWhole = true,
  }: { readonly least: number; readonly most: number; readonly isWhole?: boolean },
): number {
  const value = Number(text);
  const fits = text.trim() !== '' && value >= least && value <= most;
  if (fits && (Number.isInteger(value) || !isWhole)) return value;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new Error(`--${name}: expected ${kind} from ${least} to ${most}, came '${text}'`);
}

/** Aborts at the first signal, so that what runs ends in order; a second one ends the process at once. */
export function untilSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort();
    });
  return stopping.signal;
}
