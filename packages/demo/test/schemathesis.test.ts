import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';
import { needs, python } from './tool.js';

const run = promisify(execFile);
const SERVICES = join(import.meta.dirname, '..', '..', '..', 'services');
const TENANT = 'acme';
/** For each operation; `openapi.schemathesis.toml` of each service names the numbers of a long run. */
const EXAMPLES = 5;
const DEADLINE_MS = 240_000;

let running: TestStack;
beforeAll(async () => {
  // A limit of webhooks would be the answer to most registrations.
  const overrides = { 'config-api': { MAX_WEBHOOKS_PER_TENANT: '100000' } };
  running = await startTestStack(overrides, { withQueryApi: true });
});
afterAll(() => running.stop());

const withSchemathesis = needs('schemathesis (set CI_PYTHON)', python !== undefined);

withSchemathesis.each(['config-api', 'ingest', 'query-api'] as const)(
  'every request that schemathesis makes from the document of %s gets a response that the document allows',
  async (service) => {
    const { configApi, ingest, queryApi } = running.stack.description();
    const url = { 'config-api': configApi, ingest, 'query-api': queryApi ?? '' }[service];
    const token = await running.clientOf(TENANT).token();
    await run(
      join(dirname(python ?? ''), 'st'),
      [
        ...['--config-file', 'openapi.schemathesis.toml', 'run', 'openapi.yaml', '--url', url],
        ...['--header', `Authorization: Bearer ${token}`, '--checks', 'all', '--mode', 'all'],
        ...['--max-examples', String(EXAMPLES), '--seed', '1'],
      ],
      {
        cwd: join(SERVICES, service),
        env: { ...process.env, TENANT_ID: TENANT },
        timeout: DEADLINE_MS,
        maxBuffer: 16_777_216,
      },
    ).catch((error: unknown) => {
      // What it found stands in its output, not in the error.
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${stdout.slice(-8_000)}\n${stderr.slice(-2_000)}`, { cause: error });
    });
  },
  DEADLINE_MS,
);
