import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAULTS } from '../../src/chaos/faults.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const CASES = 43;
const COMMAND = 'npm run chaos -- --faults ';

interface Row {
  readonly name: string;
  readonly file: string;
  readonly test: string;
}

const unquoted = (cell: string | undefined): string => (cell ?? '').trim().replace(/^`(.*)`$/, '$1');

/** The rows of a page like `fault-cases.md`. */
function readRows(page: string): Row[] {
  const lines = page.split('\n').filter((line) => /^\| F\d/.test(line));
  return lines.map((line) => {
    const [, name, , file, test] = line.split('|').map(unquoted);
    return { name: name ?? '', file: file ?? '', test: test ?? '' };
  });
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Whether a test, or a group of tests, of this file has exactly this name. */
function isTest(file: string, name: string): boolean {
  const path = join(ROOT, file);
  if (!/\.test\.ts$/.test(file) || !existsSync(path)) return false;
  return new RegExp(String.raw`\(\s*(['"${'`'}])${escaped(name)}\1`).test(readFileSync(path, 'utf8'));
}

function isKnown({ file, test }: Row, faults: ReadonlySet<string>): boolean {
  if (!test.startsWith(COMMAND)) return isTest(file, test);
  return (
    existsSync(join(ROOT, file)) &&
    test
      .slice(COMMAND.length)
      .split(',')
      .every((fault) => faults.has(fault))
  );
}

const PAGE = readFileSync(join(ROOT, 'packages/proof/fault-cases.md'), 'utf8');
const rows = readRows(PAGE);

describe('the page of fault cases', () => {
  it('tries each case in order, or says why not', () => {
    const tried = [...new Set(rows.map(({ name }) => name))];
    const untried = PAGE.matchAll(/^- (F\d+(?:, F\d+)*):/gm);
    const named = new Set([...tried, ...[...untried].flatMap(([, names]) => names?.split(', ') ?? [])]);
    const all = Array.from({ length: CASES }, (_, index) => `F${index + 1}`);
    expect(tried).toEqual(all.filter((name) => tried.includes(name)));
    expect(all.filter((name) => !named.has(name))).toEqual([]);
  });

  it('names only tests that exist', () => {
    const faults = new Set(FAULTS.map(({ name }) => name));
    expect(rows.filter((row) => !isKnown(row, faults))).toEqual([]);
  });

  it('does not accept the name of a test that does not exist', () => {
    const [row] = rows;
    expect(row && isTest(row.file, row.test)).toBe(true);
    expect(row && isTest(row.file, row.test.slice(1))).toBe(false);
    expect(row && isTest('packages/proof/test/chaos/test/nowhere.test.ts', row.test)).toBe(false);
    expect(
      isKnown(
        { name: 'F1', file: 'packages/proof/src/chaos/fault.ts', test: `${COMMAND}nothing` },
        new Set(),
      ),
    ).toBe(false);
  });
});
