import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plant } from '../../src/planted/plant.js';
import { PLANTED } from '../../src/planted/planted.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const dir = mkdtempSync(join(tmpdir(), 'planted-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const BUG = { name: 'a bug', file: 'code.js', right: 'a + b', wrong: '$& - b' };
const file = join(dir, BUG.file);

it('a bug is planted, and taken back', () => {
  writeFileSync(file, 'f(a + b);');
  const takeBack = plant(dir, BUG);
  expect(readFileSync(file, 'utf8')).toBe('f($& - b);');
  takeBack();
  expect(readFileSync(file, 'utf8')).toBe('f(a + b);');
});

it.each(['f(a);', 'f(a + b, a + b);'])(
  'a bug is not planted where its place is not there once: %s',
  (code) => {
    writeFileSync(file, code);
    expect(() => plant(dir, BUG)).toThrow("'a bug': expected one place in code.js");
    expect(readFileSync(file, 'utf8')).toBe(code);
  },
);

it.each(PLANTED)('$name: its place is in what is built', ({ file: built, right }) => {
  expect(readFileSync(join(ROOT, built), 'utf8').split(right)).toHaveLength(2);
});
