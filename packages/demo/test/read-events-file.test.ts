import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEventsFile } from '../src/read-events-file.js';

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
      `the events file ${file} cannot be read: there is no such file`,
    );
  });

  it('says that it is empty, lines of spaces included', async () => {
    await expect(readEventsFile(fileOf('\n  \r\n'))).rejects.toThrow('holds no events');
  });

  it('says why a folder cannot be read', async () => {
    await expect(readEventsFile(folder)).rejects.toThrow(/EISDIR/);
  });
});
