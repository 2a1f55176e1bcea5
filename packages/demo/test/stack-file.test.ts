import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { emptyTestEngines, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { writeEnvFile } from '../src/env-script.js';

let dataDir: string;
const stackFile = (): string => join(dataDir, 'stack.json');

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'stack-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const start = async (): Promise<Stack> =>
  startStack({
    ...(await emptyTestEngines()),
    dataDir,
    fixedPorts: false,
    without: ['config-api', 'delivery-worker', 'query-api'],
    // Longer than a busy machine lets Kafka wait.
    overrides: { ingest: { PUBLISH_TIMEOUT_MS: '60000' } },
    log: () => undefined,
  });

it('stack.json names the processes of a stack that runs, and is gone after an orderly stop', async () => {
  const stack = await start();
  expect(JSON.parse(readFileSync(stackFile(), 'utf8'))).toMatchObject({ processes: { start: process.pid } });
  // A second stack on the same folder is refused before it changes anything.
  const second = startStack({ dataDir, fixedPorts: false, log: () => undefined });
  await expect(second).rejects.toThrow('another stack is running');
  expect(existsSync(stackFile())).toBe(true);
  await stack.stop();
  expect(existsSync(stackFile())).toBe(false);
});

const NAMES =
  'CONFIG_API INGEST QUERY_API TOKEN_ENDPOINT RECEIVER KAFKA_BROKERS MONGODB_URI WORKER_ADMIN CONFIG_API_ADMIN INGEST_ADMIN QUERY_API_ADMIN CLIENT_ID CLIENT_SECRET PAYMENT_CLIENT_ID PAYMENT_CLIENT_SECRET CA_FILE CERT_FILE KEY_FILE';

/** Posts an event with the variables and the token of `env.sh`, as a person does it in this shell. */
async function useEnvFile(shell: string, file: string): Promise<string> {
  const event = {
    eventType: 'PIX_STATIC',
    occurredAt: new Date().toISOString(),
    data: { endToEndId: 'E12345678202611241403a1b2c3d4e5F', amount: '42.00' },
  };
  const script = `. "$0"
    curl -s "$INGEST/events" -H "Authorization: Bearer $(token)" -H 'Content-Type: application/json' -d "$1"
    token "$PAYMENT_CLIENT_ID" "$PAYMENT_CLIENT_SECRET" | wc -l
    token nobody wrong 2>&1 || echo "exit $?"
    webhooks trigger PIX_STATIC --json
    echo "$RECEIVER"; for name in ${NAMES}; do eval ": \\\${$name:?}"; done`;
  const env = { PATH: process.env['PATH'] };
  const { stdout } = await promisify(execFile)(shell, ['-euc', script, file, JSON.stringify(event)], { env });
  return stdout;
}

it('the variables and the token of env.sh open the APIs from sh and bash', async () => {
  const stack = await start();
  const file = writeEnvFile(
    dataDir,
    { ...stack.description(), queryApi: 'http://127.0.0.1:1' },
    "https://it's $HOME",
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const shell of ['sh', 'bash']) {
    const output = await useEnvFile(shell, file);
    expect(output).toMatch(
      /"status":"accepted"\}\s*1\n.*no token from .*\nexit 1\n.*"id":\s*"evt_.*https:\/\/it's \$HOME\n$/s,
    );
  }
  await stack.stop();
  await expect(useEnvFile('sh', file)).rejects.toThrow(/no token from/);
});
