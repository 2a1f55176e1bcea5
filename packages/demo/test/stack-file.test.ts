import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startStack } from '@webhooks/stack';
import type { Stack } from '@webhooks/stack';
import { envScript, stackVariables } from '../src/env-script.js';

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

it.each(['sh', 'bash'])('the variables and the token of env.sh open the APIs from %s', async (shell) => {
  const stack = await start();
  const file = join(dataDir, "it's env.sh");
  writeFileSync(file, envScript(stackVariables(stack.description(), 'https://localhost:8443')));
  const event = {
    eventType: 'PIX_STATIC',
    occurredAt: new Date().toISOString(),
    data: { endToEndId: 'E12345678202611241403a1b2c3d4e5F', amount: '42.00' },
  };
  const { stdout } = await promisify(execFile)(
    shell,
    [
      '-euc',
      `. "$0"; curl -s "$INGEST/events" -H "Authorization: Bearer $(token)" -H 'Content-Type: application/json' -d "$1"
       token nobody wrong 2>&1 || echo " exit $?"; echo "$RECEIVER"`,
      file,
      JSON.stringify(event),
    ],
    { env: { PATH: process.env['PATH'] } },
  );
  await stack.stop();
  expect(stdout).toContain('"status":"accepted"');
  expect(stdout).toMatch(/no token from .* exit 1\nhttps:\/\/localhost:8443\n$/s);
});

it('a start that is refused leaves the stack.json of the stack that runs there', async () => {
  writeFileSync(join(dataDir, 'pid'), String(process.ppid));
  writeFileSync(stackFile(), 'of the other');
  await expect(start()).rejects.toThrow('another stack is running');
  expect(readFileSync(stackFile(), 'utf8')).toBe('of the other');
});
