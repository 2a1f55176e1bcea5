import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plant } from '../../src/planted/plant.js';
import { PLANTED } from '../../src/planted/planted.js';
import { replaceOnce } from '../../src/replace-once.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const dir = mkdtempSync(join(tmpdir(), 'planted-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const BUG = {
  name: 'a bug',
  places: [
    { file: 'other.js', right: 'c', wrong: 'd' },
    { file: 'code.js', right: 'a + b', wrong: '$& - b' },
  ],
};
const read = () => ['code.js', 'other.js'].map((file) => readFileSync(join(dir, file), 'utf8'));
beforeEach(() => writeFileSync(join(dir, 'other.js'), 'c();'));

it('a bug is planted at each of its places, and taken back', () => {
  writeFileSync(join(dir, 'code.js'), 'f(a + b);');
  const takeBack = plant(dir, BUG);
  expect(read()).toEqual(['f($& - b);', 'd();']);
  takeBack();
  expect(read()).toEqual(['f(a + b);', 'c();']);
});

it.each(['f(a);', 'f(a + b, a + b);'])(
  'a bug is planted nowhere when one of its places is not there once: %s',
  (code) => {
    writeFileSync(join(dir, 'code.js'), code);
    expect(() => plant(dir, BUG)).toThrow("'a bug': expected one place in code.js");
    expect(read()).toEqual([code, 'c();']);
  },
);

it.each(PLANTED)('$name: its places are in what is built, in a file each', ({ name, places }) => {
  for (const place of places) replaceOnce(readFileSync(join(ROOT, place.file), 'utf8'), place, name);
  expect(new Set(places.map(({ file }) => file)).size).toBe(places.length);
});

it('there is a bug of each kind, by a name of its own', () => {
  expect(PLANTED.map(({ name }) => name).sort()).toEqual([
    'accepted-early',
    'committed-early',
    'heap-lost',
    'older-revision-late',
    'posted-twice',
    'retry-dropped',
    'stale-picture',
  ]);
});
