import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildEvent } from '@webhooks/testkit';
import { readEventsFile } from '../src/run-demo.js';
import { unbalancedLine } from '../src/show.js';

const folder = mkdtempSync(join(tmpdir(), 'events-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const file = join(folder, `${text.length}.ndjson`);
  writeFileSync(file, text);
  return file;
}

describe('an events file', () => {
  it('names the file that is not there', async () => {
    const file = join(folder, 'absent');
    await expect(readEventsFile(file)).rejects.toThrow(
      `the events file ${file} cannot be read: Error: ENOENT: no such file`,
    );
  });

  it('says that it is empty, lines of spaces included', async () => {
    await expect(readEventsFile(fileOf('\n  \r\n'))).rejects.toThrow('holds no events');
  });

  it('may begin with a byte order mark', async () => {
    const lines = await readEventsFile(fileOf(`\uFEFF${JSON.stringify(buildEvent())}\n`));
    expect(lines.map(({ fault }) => fault)).toEqual([undefined]);
  });

  it('says why a folder cannot be read', async () => {
    await expect(readEventsFile(folder)).rejects.toThrow(/EISDIR/);
  });

  it('without one valid line is reported as such, and not as a loss', () => {
    expect(unbalancedLine(0, '/x')).toBe('· no event was accepted; everything is kept in /x');
    expect(unbalancedLine(2, '/x')).toContain('the delivery account does not balance');
  });
});
