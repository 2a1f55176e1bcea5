import { join, sep } from 'node:path';

/** Folder of this package, whether this file runs as built (dist/src/world) or from its source, as tests do (src/world). */
const PACKAGE = import.meta.dirname.replace(new RegExp(`(\\${sep}dist)?\\${sep}src\\${sep}world$`), '');

/** The built program of a part of the bench that runs as a process of its own. */
export const entryOf = (path: string): string => join(PACKAGE, 'dist', 'src', path);
