import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';

let dataDir: string;
const stackFile = (): string => join(dataDir, 'stack.json');

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'stack-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const start = (): Promise<Stack> =>
  startStack({
    dataDir,
    fixedPorts: false,
    without: ['config-api', 'delivery-worker', 'query-api'],
    log: () => undefined,
  });

it('stack.json names the processes of a stack that runs, and is gone after an orderly stop', async () => {
  const stack = await start();
  expect(JSON.parse(readFileSync(stackFile(), 'utf8'))).toMatchObject({ processes: { start: process.pid } });
  await stack.stop();
  expect(existsSync(stackFile())).toBe(false);
});

it('a start that is refused leaves the stack.json of the stack that runs there', async () => {
  writeFileSync(join(dataDir, 'pid'), String(process.ppid));
  writeFileSync(stackFile(), 'of the other');
  await expect(start()).rejects.toThrow('another stack is running');
  expect(readFileSync(stackFile(), 'utf8')).toBe('of the other');
});
