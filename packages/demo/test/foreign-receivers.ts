import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHmac } from 'node:crypto';
import type { PaymentEvent } from '@webhooks/contracts';
import { freePort } from '@webhooks/local';
import { buildEvent, createRandom, eventually } from '@webhooks/testkit';
import { Webhook } from 'standardwebhooks';
import type { TestStack } from './test-stack.js';
import { has, needs } from './tool.js';

const FOREIGN = join(import.meta.dirname, 'foreign');

interface Receipt {
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

let running: TestStack;
const children: ChildProcess[] = [];

function readReceipts(file: string): Receipt[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const { path, headers, body, text } = JSON.parse(line) as {
      path: string;
      headers: [string, string][];
      body?: string;
      text?: string;
    };
    return {
      path,
      headers: new Map(headers.map(([name, value]) => [name.toLowerCase(), value])),
      body: text ?? Buffer.from(body ?? '', 'base64').toString('utf8'),
    };
  });
}

/** Starts a program that prints its port as its first line. */
async function startProgram(command: string, args: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(chunk.toString().trim());
}

async function startNginx(dir: string): Promise<number> {
  const { certFile, keyFile } = running.stack.description().tls;
  const [port, inner] = [await freePort(), await freePort()];
  const replaced: Readonly<Record<string, string>> = {
    DIR: dir,
    PORT: String(port),
    INNER: String(inner),
    CERT: certFile,
    KEY: keyFile,
  };
  const config = readFileSync(join(FOREIGN, 'nginx.conf'), 'utf8').replaceAll(
    /\b(DIR|PORT|INNER|CERT|KEY)\b/g,
    (name) => replaced[name] ?? name,
  );
  writeFileSync(join(dir, 'nginx.conf'), config.replace(/^# .*$/gm, ''));
  children.push(
    spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], { stdio: ['ignore', 'inherit', 'inherit'] }),
  );
  return port;
}

/** The bytes of a notification, written out by hand: nothing of ours makes them. */
function expectedBody({ id, occurredAt, data }: PaymentEvent & { eventType: 'PIX_DYNAMIC_PAID' }): string {
  return `{"id":"${id}","eventType":"PIX_DYNAMIC_PAID","occurredAt":"${occurredAt}","data":{"txId":"${data.txId}","endToEndId":"${data.endToEndId}","amount":"${data.amount}","paidAt":"${String(data.paidAt)}"}}`;
}

function expectContract(receipt: Receipt, event: PaymentEvent, secret: string): void {
  if (event.eventType !== 'PIX_DYNAMIC_PAID') throw new Error('expected a dynamic payment');
  expect(receipt.body).toBe(expectedBody(event));
  const headers = Object.fromEntries(receipt.headers);
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(receipt.body)),
    'webhook-id': event.id,
    'webhook-attempt': '1',
  });
  expect(headers['user-agent']).not.toBe('');
  const allowed =
    /^(host|connection|content-type|content-length|user-agent|webhook-(id|timestamp|attempt|signature)|x-webhooks-signature)$/;
  expect(Object.keys(headers).filter((name) => !allowed.test(name))).toEqual([]);
  // The maintainers' own library of Standard Webhooks checks the signature and its age.
  expect(new Webhook(secret).verify(receipt.body, headers)).toMatchObject({ id: event.id });
  const [, time, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-webhooks-signature'] ?? '') ?? [];
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  expect(hex).toBe(
    createHmac('sha256', key)
      .update(`${String(time)}.${receipt.body}`)
      .digest('hex'),
  );
  expect(time).toBe(headers['webhook-timestamp']);
}

async function deliversTo(name: string, port: number, file: string): Promise<void> {
  const client = running.clientOf('acme');
  const path = `/${name}?shop=1&token=a%20b`;
  const { ref } = await client.register({
    eventType: 'PIX_DYNAMIC_PAID',
    endpointUrl: `https://localhost:${port}${path}`,
  });
  const { secret } = await client.rotateSecret(ref);
  const random = createRandom(port);
  const send = () =>
    client.postEvent(buildEvent({ tenantId: 'acme', eventType: 'PIX_DYNAMIC_PAID' }, random));
  // Until the registration and its secret are in force, events may arrive unsigned or not at all.
  await eventually(
    async () => {
      await send();
      if (!readReceipts(file).some(({ headers }) => (headers.get('webhook-signature') ?? '') !== ''))
        throw new Error('not in force yet');
    },
    { timeoutMs: 20_000, intervalMs: 250, message: `waiting for ${name}` },
  );
  const event = buildEvent({ tenantId: 'acme', eventType: 'PIX_DYNAMIC_PAID' }, random);
  await client.postEvent(event);
  const receipt = await eventually(
    () => readReceipts(file).find(({ headers }) => headers.get('webhook-id') === event.id) ?? false,
    {
      timeoutMs: 20_000,
      message: `waiting for the event at ${name}`,
    },
  );
  expectContract(receipt, event, secret);
  expect(receipt.path).toBe(path);
  await client.update({
    ref,
    eventType: 'PIX_DYNAMIC_PAID',
    endpointUrl: `https://localhost:${port}${path}`,
    enabled: false,
  });
}

function folderFor(name: string): string {
  const dir = join(running.dataDir, name);
  mkdirSync(dir, { recursive: true });
  return dir;
}

const program = async (name: string, command: string, args: readonly string[]): Promise<void> => {
  const file = join(folderFor(name), 'receipts.ndjson');
  const { certFile, keyFile } = running.stack.description().tls;
  await deliversTo(name, await startProgram(command, [...args, certFile, keyFile, file]), file);
};

/** Tests of a stack that runs when they do. */
export function testForeignReceivers(runningStack: () => TestStack): void {
  beforeAll(() => {
    running = runningStack();
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  describe('a receiver with nothing of ours gets the bytes, headers and signature of the contract', () => {
    needs('python3', has('python3', '--version'))('written in Python', async () => {
      await program('python', 'python3', [join(FOREIGN, 'receive.py')]);
    });

    needs('go', has('go', 'version'))(
      'written in Go',
      async () => {
        const binary = join(folderFor('go'), 'receive');
        const build = spawn('go', ['build', '-o', binary, join(FOREIGN, 'receive.go')], {
          stdio: 'inherit',
          env: { ...process.env, GO111MODULE: 'off' },
        });
        expect(await once(build, 'exit')).toEqual([0, null]);
        await program('go', binary, []);
        // A first build compiles Go's standard library.
      },
      240_000,
    );

    needs('nginx', has('nginx', '-v'))('in nginx', async () => {
      const dir = folderFor('nginx');
      await deliversTo('nginx', await startNginx(dir), join(dir, 'receipts.ndjson'));
    });
  });
}
