import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastWords } from '../../src/stack/service-process.js';

const dir = mkdtempSync(join(tmpdir(), 'last-words-'));
const file = join(dir, 'log');
afterAll(() => rmSync(dir, { recursive: true }));

const line = (level: string, message: string, error?: string): string =>
  JSON.stringify({ level, message, error });

it.each([
  [
    'the last errors',
    [line('error', 'a'), line('info', 'b'), line('error', 'no port', 'EADDRINUSE')],
    'a; no port: EADDRINUSE',
  ],
  [
    'the last line when none is an error',
    [line('info', 'b'), 'Segmentation fault', ''],
    'Segmentation fault',
  ],
  ['that there is none', [''], 'its log is empty'],
])('are %s', (_, lines, expected) => {
  writeFileSync(file, lines.join('\n'));
  expect(lastWords(file, 0)).toBe(expected);
});

it('are 500 characters at most', () => {
  writeFileSync(file, 'y'.repeat(9_000));
  expect(lastWords(file, 0)).toBe('y'.repeat(500));
});

it('are those of the last process, not of an earlier one', () => {
  const earlier = `${line('error', 'killed')}\n`;
  writeFileSync(file, `${earlier}${line('info', 'starting')}\nSegmentation fault\n`);
  expect(lastWords(file, earlier.length)).toBe('Segmentation fault');
});
