import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { SettingsReader } from '@webhooks/runtime';
import { eventually, TokenDesk } from '@webhooks/testkit';
import { readApiSettings } from '../../src/index.js';
import type { Operation } from '../../src/index.js';
import { openServedApi } from '../support/served-api.js';
import type { ServedApi } from '../support/served-api.js';

const MIB = 1_048_576;

let desk: TokenDesk;
let api: ServedApi;
/** Ends the handlers that hold their request. */
let finish: (() => void)[];

const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'POST', path: '/held', scopes: ['thing.write'], maxBodyBytes: MIB },
    handle: () => new Promise((resolve) => finish.push(() => resolve({ status: 200, body: {} }))),
  },
  {
    ...{ method: 'POST', path: '/quick', scopes: ['thing.write'], maxBodyBytes: MIB },
    handle: () => Promise.resolve({ status: 202, body: {} }),
  },
  {
    ...{ method: 'GET', path: '/quick', scopes: ['thing.read'] },
    handle: () => Promise.resolve({ status: 202, body: {} }),
  },
];

beforeAll(async () => {
  desk = await TokenDesk.open();
});
afterAll(() => desk.close());

beforeEach(async () => {
  finish = [];
  api = await openServedApi(desk, OPERATIONS, { MAX_OPEN_BODY_BYTES: String(2 * MIB) });
});
afterEach(async () => {
  for (const end of finish) end();
  await api.close();
});

type Headers = Readonly<Record<string, string | number>>;

/** A request whose headers are sent, and whose body is the test's to send. */
async function open(
  path: string,
  headers: Headers,
  { method = 'POST', tenant = 'acme' } = {},
): Promise<ClientRequest> {
  const authorization = `Bearer ${await desk.token({ claims: { tenant_id: tenant } })}`;
  const opened = request({
    ...{ host: '127.0.0.1', port: api.port, path, method, agent: false },
    headers: { authorization, ...headers },
  });
  opened.on('error', () => undefined);
  opened.flushHeaders();
  return opened;
}

async function send(
  path: string,
  headers: Headers,
  body?: string,
  options?: { method?: string; tenant?: string },
): Promise<IncomingMessage> {
  const opened = await open(path, headers, options);
  if (body !== undefined) opened.end(body);
  return new Promise((resolve, reject) => {
    opened.once('response', resolve).once('error', reject);
  });
}
const statusOfByte = async (tenant = 'other'): Promise<number | undefined> =>
  (await send('/quick', { 'content-length': 1 }, 'x', { tenant })).statusCode;

/** Sends a body and waits until its handler holds it. */
async function hold(bytes: number, tenant?: string): Promise<ClientRequest> {
  const before = finish.length;
  const opened = await open('/held', { 'content-length': bytes }, tenant === undefined ? {} : { tenant });
  opened.end(Buffer.alloc(bytes));
  await eventually(() => finish.length > before);
  return opened;
}

describe('the bodies of open requests', () => {
  it('have one bound: beyond it a request is refused before its body is read', async () => {
    await hold(MIB);
    await hold(MIB / 2, 'b');
    await hold(MIB / 4, 'c');
    const refused = await send('/quick', { 'content-length': MIB });
    const { 'retry-after': wait, connection } = refused.headers;
    expect([refused.statusCode, wait, connection]).toEqual([503, '1', 'close']);
    expect((await send('/quick', {}, '', { method: 'GET' })).statusCode).toBe(202);
  });

  it('leave half for others, so that one tenant cannot exclude another', async () => {
    await hold(MIB);
    expect(await statusOfByte('acme')).toBe(503);
    expect(await statusOfByte('other')).toBe(202);
  });

  it('cannot have a bound of which half is smaller than the largest body', () => {
    const settings = new SettingsReader({ MAX_OPEN_BODY_BYTES: String(2 * MIB - 1) });
    readApiSettings(settings, { port: 1, maxOpenRequests: 1, tenantRequestsPerSecond: 0 });
    expect(settings.faults.join()).toContain('MAX_OPEN_BODY_BYTES must be a whole number from 2097152 ');
  });

  it.each([
    ['identity', 202],
    ['Identity', 202],
    ['gzip', 422],
  ])('are taken as they are, and not compressed: %s', async (coding, status) => {
    const sent = await send('/quick', { 'content-encoding': coding, 'content-length': 1 }, 'x');
    expect(sent.statusCode).toBe(status);
  });

  it('take no budget while they are only declared', async () => {
    const declared = await Promise.all(
      Array.from({ length: 64 }, () => open('/held', { 'content-length': MIB })),
    );
    expect(await statusOfByte('acme')).toBe(202);
    for (const one of declared) one.destroy();
  });

  it('count until the handler has ended or the caller is gone', async () => {
    const cut = await open('/held', { 'content-length': MIB });
    cut.write(Buffer.alloc(MIB - 1));
    await eventually(async () => (await statusOfByte('acme')) === 503);
    cut.destroy();
    await eventually(async () => (await statusOfByte('acme')) === 202);
    await hold(MIB);
    expect(await statusOfByte('acme')).toBe(503);
    finish.at(-1)?.();
    await eventually(async () => (await statusOfByte('acme')) === 202);
  });
});

describe('a caller that hangs up', () => {
  const isQuiet = async (): Promise<void> => {
    await eventually(async () => {
      const metrics = await api.registry.metrics();
      expect(metrics).toContain('http_requests_total{operation="POST /held",status="client-closed"} 1');
    });
    expect(await api.registry.metrics()).not.toContain('operation="POST /held",status="200"');
    expect(
      api.lines.filter(({ level, message }) => level === 'debug' && message === 'the caller hung up'),
    ).toHaveLength(1);
    expect(api.lines.filter(({ message }) => message === 'requests failed')).toEqual([]);
  };

  it('in the middle of its body causes no failure of ours', async () => {
    const cut = await open('/held', { 'content-length': MIB });
    cut.write(Buffer.alloc(MIB - 1));
    await eventually(async () => (await statusOfByte('acme')) === 503);
    api.lines.length = 0;
    cut.destroy();
    await eventually(async () => (await statusOfByte('acme')) === 202);
    await isQuiet();
  });

  it('before its response causes no failure of ours', async () => {
    const opened = await hold(1);
    opened.destroy();
    await isQuiet();
    finish[0]?.();
    expect(await statusOfByte()).toBe(202);
    await isQuiet();
  });
});

describe('a body whose length nobody told', () => {
  it('is refused as soon as it exceeds the bound', async () => {
    const refused = await send('/quick', { 'transfer-encoding': 'chunked' }, 'x'.repeat(MIB + 1));
    expect([refused.statusCode, refused.headers.connection]).toEqual([422, 'close']);
    expect((await send('/quick', { 'transfer-encoding': 'chunked' }, 'x'.repeat(MIB))).statusCode).toBe(202);
  });
});
