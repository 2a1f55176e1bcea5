import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NotNow } from '../../src/fault.js';
import { disksOf, openDisks } from '../../src/world/disks.js';
import type { Disks } from '../../src/world/disks.js';

const dir = mkdtempSync(join(tmpdir(), 'disks-'));
const file = join(dir, 'kafka', 'log');
let disks: Disks | undefined;
beforeAll(async () => {
  disks = await openDisks(dir).catch((error: unknown) => {
    process.stderr.write(`skipped: nothing can be mounted here: ${String(error)}\n`);
    return undefined;
  });
});
afterAll(async () => {
  await disks?.close();
  rmSync(dir, { recursive: true, force: true });
});

it('a disk is full, has room again, is read-only, and can be written again; what it holds stays', async () => {
  if (!disks) return;
  writeFileSync(file, 'acknowledged;');
  await disks.fill('kafka');
  expect(() => writeFileSync(join(dir, 'kafka', 'more'), 'x'.repeat(10_000))).toThrow('ENOSPC');
  disks.makeRoom('kafka');
  appendFileSync(file, 'more;');
  await disks.makeReadOnly('kafka');
  expect(() => appendFileSync(file, 'never')).toThrow('EROFS');
  await disks.makeWritable('kafka');
  appendFileSync(file, 'again');
  expect(readFileSync(file, 'utf8')).toBe('acknowledged;more;again');
});

it('a run without disks passes over what is about them', () => {
  expect(() => disksOf({ disks: undefined })).toThrow(NotNow);
});
