import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimDataDir } from '../../src/stack/stack-file.js';

describe('a data folder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'claimed-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('is taken again by the version that wrote it', () => {
    claimDataDir(dataDir)();
    writeFileSync(join(dataDir, 'secrets.json'), '{}');
    expect(() => claimDataDir(dataDir)()).not.toThrow();
  });

  it('is refused when another version wrote it', () => {
    writeFileSync(join(dataDir, 'format'), '1');
    expect(() => claimDataDir(dataDir)).toThrow('was written by another version of this project: delete it');
    rmSync(join(dataDir, 'format'));
    expect(() => claimDataDir(dataDir)).toThrow('was written by another version of this project: delete it');
  });
});
