import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Planted } from './planted.js';

/** Takes a planted bug back: the file is as it was. */
export type TakeBack = () => void;

/** Plants a bug below `root`. Throws when its place is not there exactly once: the bug would not be what its name says. */
export function plant(
  root: string,
  { name, file, right, wrong }: Omit<Planted, 'options' | 'expects'>,
): TakeBack {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  const places = text.split(right).length - 1;
  if (places !== 1) throw new Error(`'${name}': expected one place in ${file}, there are ${places}`);
  writeFileSync(
    path,
    text.replace(right, () => wrong),
  );
  return () => writeFileSync(path, text);
}
