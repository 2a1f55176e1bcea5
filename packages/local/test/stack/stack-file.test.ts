import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeOwner } from '../../src/engine/folders.js';
import { checkFormat, claimDataDir } from '../../src/stack/stack-file.js';

describe('a data folder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'claimed-'));
  const nothing = () => undefined;
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('is taken again by the version that wrote it', () => {
    checkFormat(dataDir);
    writeFileSync(join(dataDir, 'secrets.json'), '{}');
    expect(() => checkFormat(dataDir)).not.toThrow();
  });

  it('is refused when another version wrote it', () => {
    writeFileSync(join(dataDir, 'format'), '1');
    expect(() => checkFormat(dataDir)).toThrow('was written by another version of this project: delete it');
    rmSync(join(dataDir, 'format'));
    expect(() => checkFormat(dataDir)).toThrow('was written by another version of this project: delete it');
  });

  it('is refused while its stack runs, and not because of a process that got the id of one that ended', () => {
    const file = join(dataDir, 'pid');
    writeOwner(file, process.ppid, 'w');
    expect(() => claimDataDir(dataDir, nothing)).toThrow(
      `(process ${process.ppid}); stop it with: kill ${process.ppid}`,
    );
    writeFileSync(`${file}.start`, 'earlier');
    claimDataDir(dataDir, nothing)();
  });

  it('that is deleted while its stack runs is reported', async () => {
    const lost = Promise.withResolvers<never>();
    const release = claimDataDir(dataDir, lost.reject);
    rmSync(dataDir, { recursive: true });
    await expect(lost.promise).rejects.toThrow(`${dataDir} was deleted while its stack ran: the stack ends`);
    release();
  });
});
