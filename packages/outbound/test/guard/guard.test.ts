import { sharedAuthority } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Sender, SenderOptions } from '../../src/index.js';
import type { ConnectProxy } from '../connect-proxy.js';
import { post, Rig } from '../rig.js';

const rig = new Rig();
afterEach(() => rig.close());

const HOST = 'hook.acme.com.br';

/** An endpoint on loopback with a certificate for a public name. */
async function publicEndpoint(): Promise<Endpoint> {
  const leaf = await (await sharedAuthority()).issue([HOST]);
  return rig.endpoint({ certPem: leaf.certPem, keyPem: leaf.keyPem });
}

let proxy: ConnectProxy | undefined;

async function senderFor(options: SenderOptions): Promise<Sender> {
  const { caFile } = await sharedAuthority();
  return rig.plainSender({ extraCaFile: caFile, egressProxy: proxy, ...options });
}

const forbidden = { kind: 'forbidden', error: 'ADDRESS_DENIED', code: 'ADDRESS_DENIED' };

describe.each([
  ['the guard', () => Promise.resolve(undefined)],
  ['the guard before an egress proxy', () => rig.proxy()],
])('%s', (_title, start) => {
  beforeEach(async () => {
    proxy = await start();
  });

  it('connects to the addresses of the DNS answer, and checks the certificate of the name', async () => {
    const endpoint = await publicEndpoint();
    const asked: string[] = [];
    const resolve = (host: string): Promise<string[]> => {
      asked.push(host);
      return Promise.resolve(['127.0.0.1']);
    };
    const sender = await senderFor({ addresses: { allowLoopback: true }, resolve });
    expect(await post(sender, `https://${HOST}:${endpoint.port}`)).toMatchObject({ status: 200 });
    expect(endpoint.arrivals[0]?.headers['host']).toBe(`${HOST}:${endpoint.port}`);
    expect(asked).toEqual([HOST]);
  });

  it.each([
    ['loopback', ['127.0.0.1']],
    ['the rest of loopback', ['127.9.9.9']],
    ['this host', ['0.0.0.0']],
    ['IPv6 loopback', ['::1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['a compatible address', ['::7f00:1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['metadata', ['169.254.169.254']],
    ['a private address', ['10.1.2.3']],
    ['a public address and a private one', ['200.147.3.1', '127.0.0.1']],
    ['a private address of the other family', ['200.147.3.1', 'fd00::1']],
    ['no address', ['not-an-address']],
  ])('sends nothing when the name leads to %s', async (_, addresses) => {
    const endpoint = await publicEndpoint();
    const sender = await senderFor({ resolve: () => Promise.resolve(addresses) });
    expect(await post(sender, `https://${HOST}:${endpoint.port}`)).toMatchObject(forbidden);
    expect(endpoint.stats().connections).toBe(0);
    expect(proxy?.heads ?? []).toEqual([]);
  });

  it.each([
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::7f00:1]',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    'localhost',
  ])('sends nothing to %s, however it got past registration', async (host) => {
    const endpoint = await publicEndpoint();
    const sender = await senderFor({ resolve: () => Promise.resolve(['127.0.0.1']) });
    expect(await post(sender, `https://${host}:${endpoint.port}`)).toMatchObject(forbidden);
    expect(endpoint.stats().connections).toBe(0);
    expect(proxy?.heads ?? []).toEqual([]);
  });

  it('resolves again for each new connection, and refuses a second answer that became private', async () => {
    const endpoint = await publicEndpoint();
    endpoint.replyWith({ kind: 'status', status: 200, headers: { connection: 'close' } });
    const answers = ['127.0.0.1', '10.0.0.1'];
    const resolve = (): Promise<string[]> => Promise.resolve([answers.shift() ?? '']);
    const sender = await senderFor({ addresses: { allowLoopback: true }, resolve });
    const origin = `https://${HOST}:${endpoint.port}`;
    expect(await post(sender, origin)).toMatchObject({ kind: 'responded', status: 200 });
    expect(await post(sender, origin)).toMatchObject({ ...forbidden, reason: 'private' });
    expect(endpoint.stats()).toMatchObject({ connections: 1, arrivals: 1 });
  });

  it("applies the operator's list even to loopback", async () => {
    const endpoint = await rig.endpoint();
    const sender = await senderFor({ addresses: { allowLoopback: true, deny: ['127.0.0.0/8', '::1'] } });
    expect(await post(sender, endpoint.origin)).toMatchObject({ ...forbidden, reason: 'operator list' });
  });

  it('lets localhost and loopback addresses pass with the development switch', async () => {
    const leaf = await (await sharedAuthority()).issue(['localhost', '127.0.0.1', '::1']);
    const endpoint = await rig.endpoint({ certPem: leaf.certPem, keyPem: leaf.keyPem });
    const sender = await senderFor({ addresses: { allowLoopback: true } });
    for (const host of ['localhost', '127.0.0.1']) {
      expect(await post(sender, `https://${host}:${endpoint.port}`)).toMatchObject({ status: 200 });
    }
  });

  it('never uses a proxy from the environment', async () => {
    let asked = 0;
    const unwanted = createServer((_, response) => {
      asked += 1;
      response.end();
    });
    unwanted.on('connect', (_, socket) => {
      asked += 1;
      socket.destroy();
    });
    unwanted.listen(0, '127.0.0.1');
    await once(unwanted, 'listening');
    const url = `http://127.0.0.1:${(unwanted.address() as AddressInfo).port}`;
    const names = [
      'HTTPS_PROXY',
      'https_proxy',
      'HTTP_PROXY',
      'http_proxy',
      'ALL_PROXY',
      'NODE_USE_ENV_PROXY',
    ];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : url;
    try {
      const endpoint = await rig.endpoint();
      const sender = rig.sender(endpoint, { egressProxy: proxy });
      expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200 });
      expect(asked).toBe(0);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
      unwanted.close();
    }
  });

  it('opens no connection for a DNS answer that comes too late', async () => {
    const endpoint = await publicEndpoint();
    const answered = Promise.withResolvers<string[]>();
    const sender = await senderFor({
      addresses: { allowLoopback: true },
      connectTimeoutMs: 50,
      resolve: () => answered.promise,
    });
    const result = await post(sender, `https://${HOST}:${endpoint.port}`);
    expect(result).toMatchObject({ kind: 'unreachable', error: 'CONNECT_TIMEOUT' });
    answered.resolve(['127.0.0.1']);
    // Another one, begun later, is the only one that comes.
    const other = await senderFor({
      addresses: { allowLoopback: true },
      resolve: () => Promise.resolve(['127.0.0.1']),
    });
    expect(await post(other, `https://${HOST}:${endpoint.port}`)).toMatchObject({ status: 200 });
    expect(endpoint.stats().connections).toBe(1);
  });

  it('tries the next address when one does not answer', async () => {
    const endpoint = await publicEndpoint();
    // 127.0.0.9: nobody listens there, the endpoint is bound to 127.0.0.1 alone.
    const sender = await senderFor({
      addresses: { allowLoopback: true },
      resolve: () => Promise.resolve(['127.0.0.9', '127.0.0.1']),
    });
    expect(await post(sender, `https://${HOST}:${endpoint.port}`)).toMatchObject({ status: 200 });
  });
});
