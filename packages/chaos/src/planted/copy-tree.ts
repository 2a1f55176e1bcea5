import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

const NOT_COPIED = new Set(['.data', '.git', 'coverage']);

/** Copies a built tree. Links between its packages lead into the copy, those of other packages to the ones installed. */
export function copyTree(root: string, copy: string): void {
  mkdirSync(copy, { recursive: true });
  for (const name of ['packages', 'services', 'package.json'])
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => !NOT_COPIED.has(basename(from)),
    });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}
