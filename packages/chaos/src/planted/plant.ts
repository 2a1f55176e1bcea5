import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceOnce } from '../replace-once.js';
import type { Planted } from './planted.js';

/** Takes a planted bug back: the files are as they were. */
export type TakeBack = () => void;

/**
 * Plants a bug below `root`. Throws, with nothing changed, when one of its places is not there exactly once: the bug would
 * not be what its name says.
 */
export function plant(root: string, { name, places }: Pick<Planted, 'name' | 'places'>): TakeBack {
  const changes = places.map((place) => {
    const path = join(root, place.file);
    const before = readFileSync(path, 'utf8');
    return { path, before, after: replaceOnce(before, place, name) };
  });
  for (const { path, after } of changes) writeFileSync(path, after);
  return () => {
    for (const { path, before } of changes) writeFileSync(path, before);
  };
}
