import { eventually, sharedAuthority } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { checkEgress } from '../../src/index.js';
import type { Sender, SenderOptions } from '../../src/index.js';
import { parseCredentials, parseEgressProxy, watchEgress } from '../../src/guard/egress-proxy.js';
import { post, postTimes, Rig } from '../rig.js';
import type { ProxyScript } from '../connect-proxy.js';

const rig = new Rig();
afterEach(() => rig.close());

const HOST = 'hook.acme.com.br';
const ORIGIN = `https://${HOST}`;
const status = (line: string) => ({ reply: () => ({ send: `HTTP/1.1 ${line}\r\n\r\n` }) });
const ownFault = (message: RegExp): object => ({
  reasonCode: 'EGRESS_PROXY',
  message: expect.stringMatching(message) as string,
});

/** An endpoint on loopback for a public name. */
async function publicEndpoint(): Promise<Endpoint> {
  const { certPem, keyPem } = await (await sharedAuthority()).issue([HOST]);
  return rig.endpoint({ certPem, keyPem });
}

/** A sender that resolves every name to these addresses and may connect to loopback. */
async function senderBy(options: SenderOptions, ...addresses: readonly string[]): Promise<Sender> {
  const { caFile: extraCaFile } = await sharedAuthority();
  const resolve = () => Promise.resolve(addresses.length > 0 ? addresses : ['127.0.0.1']);
  return rig.plainSender({ extraCaFile, resolve, addresses: { allowLoopback: true }, ...options });
}

async function senderThrough(script: ProxyScript, options: SenderOptions = {}, ...addresses: string[]) {
  const proxy = await rig.proxy(script);
  return { proxy, sender: await senderBy({ egressProxy: proxy, ...options }, ...addresses) };
}

describe('a sender with an egress proxy', () => {
  it('sends the proxy the checked address, and no header of the notification', async () => {
    const endpoint = await publicEndpoint();
    const { proxy, sender } = await senderThrough({});
    expect(await post(sender, `${ORIGIN}:${endpoint.port}`)).toMatchObject({ status: 200 });
    const to = `127.0.0.1:${endpoint.port}`;
    expect(proxy.heads).toEqual([`CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\nConnection: close\r\n\r\n`]);
    expect(endpoint.arrivals[0]?.headers['host']).toBe(`${HOST}:${endpoint.port}`);
  });

  it('writes an IPv6 address in brackets', async () => {
    const { proxy, sender } = await senderThrough(status('503 Unavailable'), {}, '::1');
    expect(await post(sender, ORIGIN)).toMatchObject({ error: 'CONNECT' });
    expect(proxy.asked).toEqual(['[::1]:443']);
  });

  it('sends the credentials of the proxy to the proxy alone', async () => {
    const endpoint = await publicEndpoint();
    const { proxy } = await senderThrough({});
    const egressProxy = { ...proxy, authorization: parseCredentials('user:pa:ss') };
    const sender = await senderBy({ egressProxy });
    expect(await post(sender, `${ORIGIN}:${endpoint.port}`)).toMatchObject({ status: 200 });
    expect(proxy.heads[0]).toContain('\r\nproxy-authorization: Basic dXNlcjpwYTpzcw==\r\n');
    expect(endpoint.arrivals[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('checks the certificate of the endpoint name behind the tunnel', async () => {
    const { certPem, keyPem } = await (await sharedAuthority()).issue(['other.acme.com.br']);
    const endpoint = await rig.endpoint({ certPem, keyPem });
    const { sender } = await senderThrough({});
    expect(await post(sender, `${ORIGIN}:${endpoint.port}`)).toMatchObject({
      kind: 'unreachable',
      error: 'TLS',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  it('tries the next address when the proxy cannot reach one', async () => {
    const endpoint = await publicEndpoint();
    const { proxy, sender } = await senderThrough({}, {}, '127.0.0.9', '127.0.0.1');
    expect(await post(sender, `${ORIGIN}:${endpoint.port}`)).toMatchObject({ status: 200 });
    expect(proxy.asked).toEqual([`127.0.0.9:${endpoint.port}`, `127.0.0.1:${endpoint.port}`]);
  });

  it('tries the next address when the proxy sends nothing for one', async () => {
    const endpoint = await publicEndpoint();
    const reply = (to: string) => (to.startsWith('127.0.0.9') ? 'silence' : 'tunnel');
    const { sender } = await senderThrough({ reply }, {}, '127.0.0.9', '127.0.0.1');
    expect(await post(sender, `${ORIGIN}:${endpoint.port}`)).toMatchObject({ status: 200 });
  });

  it('tries four of many addresses', async () => {
    const many = Array.from({ length: 9 }, (_, at) => `127.0.0.${at + 2}`);
    const { proxy, sender } = await senderThrough(status('502 Bad Gateway'), {}, ...many);
    await post(sender, ORIGIN);
    expect(proxy.asked).toHaveLength(4);
  });

  it.each(['500 Unable to connect', '502 Bad Gateway', '503 Unavailable', '504 Gateway Timeout'])(
    'takes %s for the failure of the endpoint',
    async (line) => {
      const { sender } = await senderThrough(status(line));
      const code = `EGRESS_PROXY_${line.slice(0, 3)}`;
      expect(await post(sender, ORIGIN)).toMatchObject({ kind: 'unreachable', error: 'CONNECT', code });
    },
  );

  it('takes silence for the failure of the endpoint while the proxy responds to other requests', async () => {
    // The proxy has half of it to respond to a check. A busy machine stands still for longer than 200 ms.
    const { proxy, sender } = await senderThrough({ reply: () => 'silence' }, { connectTimeoutMs: 2_000 });
    const failure = { kind: 'unreachable', error: 'CONNECT_TIMEOUT', code: 'CONNECT_TIMEOUT' };
    expect(await post(sender, ORIGIN)).toMatchObject(failure);
    expect(proxy.heads[1]).toMatch(/^OPTIONS \* HTTP\/1\.1\r\n/);
  });
});

describe('a fault of the egress proxy counts as no attempt', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  it.each<[string, ProxyScript, RegExp]>([
    [
      'refuses the credentials',
      status('407 Proxy Authentication Required'),
      /refuses the credentials: check EGRESS_PROXY_CREDENTIALS_FILE/,
    ],
    ['forbids the port', status('403 Forbidden'), /refuses CONNECT to port 443 \(403\): allow it/],
    ['knows no CONNECT', status('405 Method Not Allowed'), /\(405\)/],
    ['redirects', status('302 Found\r\nlocation: https://login'), /\(302\)/],
    ['sends a body', { reply: () => ({ send: `${head}\r\nwelcome` }) }, /sends a body with its response/],
    ['speaks no HTTP', { reply: () => ({ send: 'SSH-2.0-OpenSSH_9.2\r\n' }) }, /sends no response/],
    [
      'sends an endless head',
      { reply: () => ({ send: head + `x: ${'y'.repeat(80)}\r\n`.repeat(300) }) },
      /no resp/,
    ],
    ['ends within the head', { reply: () => ({ send: head }) }, /sends no response/],
    ['closes the connection', { reply: () => ({ send: '' }) }, /sends no response/],
    ['sends nothing at all', { reply: () => 'silence', responds: false }, /sends no response/],
  ])('when it %s', async (_, script, message) => {
    const { sender } = await senderThrough(script, { connectTimeoutMs: 600 });
    await expect(post(sender, ORIGIN)).rejects.toMatchObject(ownFault(message));
  });

  it('when it cannot be connected to', async () => {
    const proxy = await rig.proxy();
    await proxy.close();
    const sender = await senderBy({ egressProxy: proxy });
    await expect(post(sender, ORIGIN)).rejects.toMatchObject(ownFault(/sends no response/));
  });

  it('when its name cannot be resolved', async () => {
    const sender = await senderBy({ egressProxy: { host: 'proxy.invalid', port: 3128 } });
    await expect(post(sender, ORIGIN)).rejects.toMatchObject(ownFault(/sends no response/));
  });

  it('for all attempts that wait for a connection, before their own deadlines', async () => {
    const { proxy, sender } = await senderThrough(
      { reply: () => 'silence', responds: false },
      { connectTimeoutMs: 400, attemptTimeoutMs: 700, handshakesPerOrigin: 2 },
    );
    const posts = Array.from({ length: 12 }, () => post(sender, ORIGIN));
    for (const end of await Promise.allSettled(posts))
      expect(end).toMatchObject({ status: 'rejected', reason: { reasonCode: 'EGRESS_PROXY' } });
    expect(proxy.asked).toHaveLength(2);
  });

  it('and established tunnels carry further attempts', async () => {
    const endpoint = await publicEndpoint();
    let isOpen = true;
    const { sender } = await senderThrough({
      reply: () => (isOpen ? 'tunnel' : { send: 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n' }),
    });
    const origin = `${ORIGIN}:${endpoint.port}`;
    expect(await post(sender, origin)).toMatchObject({ status: 200 });
    isOpen = false;
    const [result] = await postTimes(1, sender, origin);
    expect(result).toMatchObject({ status: 200 });
    expect(endpoint.stats().connections).toBe(1);
  });
});

it('a closed sender leaves no connection to the proxy', async () => {
  const endpoint = await publicEndpoint();
  const { proxy, sender } = await senderThrough({});
  await post(sender, `${ORIGIN}:${endpoint.port}`);
  expect(proxy.openSockets()).toBe(2);
  await sender.close();
  await eventually(() => expect(proxy.openSockets()).toBe(0));
});

describe('EGRESS_PROXY', () => {
  it.each([
    ['http://proxy:3128', { host: 'proxy', port: 3_128 }],
    ['http://10.0.0.1:80/', { host: '10.0.0.1', port: 80 }],
    ['http://[fd00::1]:8080', { host: 'fd00::1', port: 8_080 }],
  ])('accepts %s', (text, proxy) => {
    expect(parseEgressProxy(text)).toEqual(proxy);
  });

  it.each([
    ...['proxy:3128', 'https://proxy:3128', 'http://proxy', 'http://user:password@proxy:3128'],
    ...['http://proxy:3128/path', 'http://proxy:99999', 'http://proxy:3128?x', 'socks5://proxy:1080'],
  ])('refuses %s', (text) => {
    expect(() => parseEgressProxy(text)).toThrow('expected http://host:port');
  });

  it.each(['user', ':password', 'user:pass\r\nx: y', `user:${'x'.repeat(256)}`])(
    'refuses the credentials %j without repeating them',
    (text) => {
      expect(() => parseCredentials(text)).toThrow(
        /^expected user:password, each of at most 255 characters$/,
      );
    },
  );
});

describe('the check of the way out', () => {
  it('says that there is no proxy', async () => {
    expect(await checkEgress(undefined)).toBe('deliveries use no proxy');
  });

  it('says that the proxy responds, and whether credentials are sent', async () => {
    const { port } = await rig.proxy();
    const proxy = { host: '127.0.0.1', port };
    const responds = `the egress proxy at 127.0.0.1:${port} responds;`;
    expect(await checkEgress(proxy)).toBe(`${responds} no credentials are sent`);
    const authorization = parseCredentials('user:password');
    expect(await checkEgress({ ...proxy, authorization })).toBe(`${responds} credentials are sent`);
  });

  it('names the fault and its fix', async () => {
    const { port, close } = await rig.proxy();
    await close();
    await expect(checkEgress({ host: '127.0.0.1', port })).rejects.toMatchObject({
      message:
        'the egress proxy sends no response: check EGRESS_PROXY, and that the proxy runs and takes HTTP',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('makes the service not ready until the proxy responds, with one line in the log', async () => {
    const silent = await rig.proxy();
    await silent.close();
    const lines: unknown[] = [];
    const stops: (() => Promise<unknown>)[] = [];
    const log = (...line: unknown[]): void => void lines.push(line);
    const faulted = Promise.withResolvers<undefined>();
    let probe: () => string | undefined = () => undefined;
    watchEgress(silent, {
      log: {
        ...{ debug: log, info: log, error: log },
        warn: (...line) => {
          log(...line);
          faulted.resolve(undefined);
        },
      },
      onClose: (_, close) => void stops.push(() => close(true)),
      health: { readiness: (_: string, read: typeof probe) => void (probe = read) } as never,
    });
    await faulted.promise;
    expect(probe()).toMatch(/^the egress proxy sends no response/);
    expect(lines).toMatchObject([['checking the egress proxy failed; retrying', { error: /./ }]]);
    for (const stop of stops) await stop();
  });
});
