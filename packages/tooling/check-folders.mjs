// The folder rules, part of `npm run lint`: a room holds few files, and a file is a topic rather than a fragment.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** Files side by side in one folder: what a reader takes in at a glance. */
const MAX_FILES_OF_FOLDER = 15;
/** Source files of the house (400, and 50 of the console), and lines of the file in the middle, comments counted. */
const MAX_FILES = 450;
const MIN_MEDIAN_LINES = 60;

const folders = ['packages', 'services'].flatMap((area) =>
  readdirSync(join(ROOT, area), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(ROOT, area, name, 'src')),
);

/** TypeScript files below a folder that may be missing. */
function filesBelow(folder) {
  try {
    return readdirSync(folder, { recursive: true })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => join(folder, name));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

const files = folders.flatMap(filesBelow);
const faults = Object.entries(Object.groupBy(files, dirname))
  .filter(([, members]) => members.length > MAX_FILES_OF_FOLDER)
  .map(
    ([folder, { length }]) =>
      `${relative(ROOT, folder)} has ${length} files, more than ${MAX_FILES_OF_FOLDER}`,
  );
if (files.length > MAX_FILES) faults.push(`there are ${files.length} source files, more than ${MAX_FILES}`);
const lengths = files.map((file) => readFileSync(file, 'utf8').split('\n').length - 1).sort((a, b) => a - b);
const median = lengths[Math.floor(lengths.length / 2)];
if (median < MIN_MEDIAN_LINES)
  faults.push(`the median file has ${median} lines, fewer than ${MIN_MEDIAN_LINES}`);
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
