import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { freePort } from '@webhooks/local';
import { eventually, sharedAuthority } from '@webhooks/testkit';
import { Webhook } from 'standardwebhooks';
import { has, needs } from './tool.js';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'client', 'examples');
const TYPESCRIPT = [process.execPath, '--disable-warning=ExperimentalWarning', join(EXAMPLES, 'receiver.ts')];
const PYTHON = ['python3', join(EXAMPLES, 'receiver.py')];
const inPython = needs('python3 with ssl and sqlite3', has('python3', '-c', 'import ssl, sqlite3'));
const SECRET = `whsec_${Buffer.from('a secret of 24 bytes ...').toString('base64')}`;
const LONG = { timeoutMs: 20_000 };

let folder: string;
let service: Server;
const children: ChildProcess[] = [];

/** A token endpoint and a query-api that knows each payment but the one that is gone. */
const queryApi = createServer((request, response) => {
  const isGone = request.url?.endsWith('gone') === true;
  const body = { access_token: 't', endToEndId: 'e', amount: '1.00', reversals: [], events: [] };
  response.writeHead(isGone ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hostile-requests-'));
  const { certPem, keyPem } = await (await sharedAuthority()).issue(['localhost']);
  writeFileSync(join(folder, 'cert.pem'), certPem);
  writeFileSync(join(folder, 'key.pem'), keyPem);
  service = queryApi.listen(0, '127.0.0.1');
  await once(service, 'listening');
}, 60_000);
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  service.closeAllConnections();
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

function start([program = '', ...args]: readonly string[], secrets: string, port: number): ChildProcess {
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const variables = {
    ...{ WEBHOOKS_URL: url, TOKEN_ENDPOINT: `${url}/token`, CLIENT_ID: 'c', CLIENT_SECRET: 's' },
    ...{ CERT_FILE: join(folder, 'cert.pem'), KEY_FILE: join(folder, 'key.pem') },
    ...{ WEBHOOK_SECRET: secrets, PORT: String(port), INBOX: join(folder, `${port}.sqlite`) },
  };
  const env = { ...process.env, ...variables };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
}

const bodyOf = (id: string, data: object = { endToEndId: id }): string =>
  `{"id":"${id}","eventType":"PIX_STATIC","occurredAt":"2026-11-21T14:03:27.512Z","data":${JSON.stringify(data)}}`;

const signatureOf = (body: string): string => {
  const now = new Date();
  const seconds = Math.floor(now.getTime() / 1_000);
  const signature = new Webhook(SECRET).sign('i', now, body);
  return `webhook-id: i\r\nwebhook-timestamp: ${seconds}\r\nwebhook-signature: ${signature}\r\n`;
};

/** The status of the response to exactly this head and body; 0 for none. The client sends no more and waits. */
async function post(port: number, head: string, body: string): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const late = setTimeout(() => socket.destroy(), 3_000);
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${head}\r\n${body}`, 'latin1');
  const response = await text(socket).catch(() => '');
  clearTimeout(late);
  return Number(/^HTTP\/1\.\d (\d{3})/.exec(response)?.[1] ?? 0);
}

async function withstands(command: readonly string[]): Promise<void> {
  const port = await freePort();
  const child = start(command, `${SECRET} ${SECRET}`, port);
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const deliver = (body: string): Promise<number> =>
    post(port, `${signatureOf(body)}content-length: ${body.length}\r\n`, body);
  // A payment whose state cannot be read.
  await eventually(() => deliver(bodyOf('gone')).catch(() => false as const), LONG);

  const body = bodyOf('forged');
  const signed = signatureOf(body);
  const length = `content-length: ${body.length}\r\n`;
  for (const [head, sent] of [
    [signed.replace(/timestamp: \d+/, `timestamp: ${'9'.repeat(5_000)}`) + length, body],
    [signed.replace(/timestamp: \d+/, 'timestamp: \u00b2') + length, body],
    [`${signed.replace('v1,', 'v1,A')}${length}`, body],
    [length, body.replace('"PIX_STATIC"', '"toString"  ')],
    [`${signed}content-length: -1\r\n`, body],
    [`${signed}content-length: many\r\n`, body],
    [`${signed}content-length: 99999999\r\n`, body],
    [signed, ''],
  ] as const)
    expect([head, String(await post(port, head, sent))]).toEqual([head, expect.stringMatching(/^4/)]);

  // A type that is newer than the receiver.
  expect(await deliver(bodyOf('new', {}).replace('PIX_STATIC', 'PIX_NEW'))).toBe(204);
  expect(await deliver(bodyOf('fine'))).toBe(204);
  await eventually(() => printed.includes('acted fine'), { ...LONG, message: 'the payment after a bad one' });
  expect(printed).not.toContain('forged');
}

async function startsOnlyWithSecrets(command: readonly string[]): Promise<void> {
  for (const secrets of ['', 'whsec_', `${SECRET} whsec_%%%`]) {
    const child = start(command, secrets, await freePort());
    const [code] = (await once(child, 'exit')) as [number | null];
    expect([secrets, code]).toEqual([secrets, 1]);
  }
}

describe('an example receiver responds with 4xx to hostile requests and continues, even past a payment that was deleted', () => {
  it('in TypeScript', () => withstands(TYPESCRIPT), 60_000);
  inPython('in Python', () => withstands(PYTHON), 60_000);
});

describe('an example receiver does not start without secrets that anybody would have to guess', () => {
  it('in TypeScript', () => startsOnlyWithSecrets(TYPESCRIPT), 20_000);
  inPython('in Python', () => startsOnlyWithSecrets(PYTHON), 20_000);
});
