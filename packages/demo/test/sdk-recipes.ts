import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@webhooks/client';
import { freePort } from '@webhooks/local';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { Webhook } from 'standardwebhooks';
import type { TestStack } from './test-stack.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');
const CLIENT = join(ROOT, 'packages', 'client');
/** Below the package, so that its own name leads to it. */
const RECIPES = join(CLIENT, 'dist', 'recipes');
const README = readFileSync(join(CLIENT, 'README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```ts\n\/\/ (\w+\.ts)\n(.*?)^```$/gms)];
const SECRET = `whsec_${Buffer.from('a secret of 24 bytes ...').toString('base64')}`;
const EVENT = buildEvent({ tenantId: 'acme', eventType: 'PIX_DYNAMIC_PAID' });
const LONG = { timeoutMs: 60_000 };

let running: TestStack;
let client: Client;
let endpoint: Endpoint;
let variables: Readonly<Record<string, string | undefined>>;
const children: ChildProcess[] = [];

async function setUp(): Promise<void> {
  client = running.clientOf('acme');
  const { certPem, keyPem } = await running.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem });
  const { clientId, clientSecret } = running.stack.clientOf('acme');
  const { configApi, ingest, queryApi, tokenEndpoint } = running.stack.description();
  variables = {
    ...process.env,
    WEBHOOKS_URL: configApi,
    WEBHOOKS_INGEST_URL: ingest,
    WEBHOOKS_QUERY_URL: queryApi ?? '',
    TOKEN_ENDPOINT: tokenEndpoint,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    ENDPOINT_URL: endpoint.url,
    TX_ID: EVENT.eventType === 'PIX_DYNAMIC_PAID' ? EVENT.data.txId : '',
    WEBHOOK_SECRET: SECRET,
    NODE_NO_WARNINGS: '1',
  };
  rmSync(RECIPES, { recursive: true, force: true });
  mkdirSync(RECIPES, { recursive: true });
  for (const [, file = '', code = ''] of BLOCKS) writeFileSync(join(RECIPES, file), code);
}

/** What a recipe printed. */
const cook = async (file: string): Promise<string> => {
  const options = { cwd: running.dataDir, env: variables, timeout: 60_000 };
  return (await run(process.execPath, [join(RECIPES, file)], options)).stdout;
};

/** A recipe that is a server: what it responds to a notification and to a forgery, and what it printed, once that is so many lines. */
async function serve(
  file: string,
  path: string,
  lines: number,
): Promise<{ statuses: readonly number[]; printed: string }> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(RECIPES, file)], {
    env: { ...variables, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(child);
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const { data } = await client.notifications();
  const { id = '', body = '' } = data.find((notification) => notification.id === EVENT.id) ?? {};
  const time = new Date();
  const post = async (secret: string): Promise<number> => {
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, time, body),
    };
    return (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })).status;
  };
  const first = await eventually(() => post(SECRET).catch(() => false as const), LONG);
  const statuses = [first, await post(`${SECRET.slice(0, -4)}AAAA`)];
  return { statuses, printed: await eventually(() => printed.split('\n').length > lines && printed, LONG) };
}

/** Tests of a stack that runs when they do. */
export function testRecipes(runningStack: () => TestStack): void {
  beforeAll(() => {
    running = runningStack();
    return setUp();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await endpoint.close();
  });

  describe('a recipe of the SDK', () => {
    it('is one of ten, and each is sound TypeScript', async () => {
      expect(README.match(/^### \d+\. /gm)).toHaveLength(10);
      expect(BLOCKS).toHaveLength(10);
      const compilerOptions = {
        ...{ strict: true, module: 'nodenext', types: ['node'], skipLibCheck: true },
        ...{ noEmit: true, allowImportingTsExtensions: true, erasableSyntaxOnly: true },
      };
      writeFileSync(join(RECIPES, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
      await run(process.execPath, [tsc, '-p', RECIPES, '--pretty', 'false']);
    });

    it('registers an endpoint, and the payments that it queries exist', async () => {
      expect(await cook('register.ts')).toMatch(/^[0-9a-f-]{36} is signed with whsec_\S+\n$/);
      // A registration is in force a second later; the same event again has the same id.
      await eventually(async () => {
        await client.postEvent(EVENT);
        return endpoint.stats().distinctIds > 0;
      }, LONG);
      await eventually(async () => (await client.deliveries({ status: 'delivered' })).results > 0, LONG);
    });

    it.each([
      ['test.ts', /^https:\/\/localhost:\d+\/hook delivered: 200\n$/],
      ['state.ts', /^CONCLUIDA: \w{32} paid \d+\.\d\d, 0 reversals\n$/],
      ['find.ts', /^PIX_DYNAMIC_PAID of R\$\S+: delivered .* GMT-3.*\.\s*$/],
      ['redeliver.ts', /^completed: [1-9]\d* of [1-9]\d* sent again, 0 refused, 0 expired\n$/],
      ['errors.ts', /^422 invalid-endpoint-url: endpointUrl .+\n$/],
    ])('prints what it promises: %s', async (file, printed) => {
      expect(await cook(file)).toMatch(printed);
    });

    it('pulls each notification once, also when it is run again: pull.ts', async () => {
      expect(await cook('pull.ts')).toContain(`PIX_DYNAMIC_PAID ${EVENT.id}\n`);
      expect(await cook('pull.ts')).toBe('');
    });

    it('verifies what it receives: verify.ts', async () => {
      const { statuses, printed } = await serve('verify.ts', '/', 2);
      expect(statuses).toEqual([204, 401]);
      expect(printed).toBe(`charge ${String(variables['TX_ID'])} was paid\nwrong-secret\n`);
    });

    it('verifies what it receives in Express: express.ts', async () => {
      const { statuses, printed } = await serve('express.ts', '/pix', 1);
      expect(statuses).toEqual([204, 401]);
      expect(printed).toBe(`store ${EVENT.id}, unless it is there\n`);
    });
  });
}
