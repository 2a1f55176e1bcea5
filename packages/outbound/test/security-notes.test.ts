import { eventually, issueThroughIntermediate, sharedAuthority } from '@webhooks/testkit';
import type { ConnectionBehaviour, Endpoint, EndpointOptions } from '@webhooks/testkit';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Resolve, Sender, SenderOptions } from '../src/index.js';
import { BODY, post, Rig } from './rig.js';

/*
 * The security notes (§2) and the list of misbehaviours of the delivery core, in their order, as far as no other file
 * has the case: §2.1 address-policy and guard; §2.4 resolver and guard; §2.5 guard, sender-tls, sender-limits;
 * §2.6 codes and answers send-failure, sender-tls, sender-limits, sender; §2.7 and §2.8 endpoint-url;
 * keep-alive and pools sender, origin-pool; sessions tls-session.
 */

const rig = new Rig();
afterEach(() => rig.close());

const HOST = 'hook.acme.com.br';

async function namedEndpoint(options: EndpointOptions = {}): Promise<Endpoint> {
  return rig.endpoint({ ...options, ...(await (await sharedAuthority()).issue([HOST])) });
}

async function namedSender(resolve: Resolve, options: SenderOptions = {}): Promise<Sender> {
  const { caFile } = await sharedAuthority();
  return rig.plainSender({ extraCaFile: caFile, resolve, ...options });
}

/** A DNS answer with one address when it is judged and another when it is connected to. */
function shifting(judged: string, connectedTo: string): Resolve {
  const answer = [judged];
  answer.map = <T>(use: (address: string, index: number, all: string[]) => T): T[] => [
    use(connectedTo, 0, answer),
  ];
  return () => Promise.resolve(answer);
}

describe('§2.4 and §2.5 (5): the address of the connected socket', () => {
  it('is judged once more', async () => {
    const endpoint = await namedEndpoint();
    const sender = await namedSender(shifting('200.147.3.1', '127.0.0.1'));
    const result = await post(sender, `https://${HOST}:${endpoint.port}`);
    expect(result).toMatchObject({ kind: 'forbidden', reason: 'loopback' });
    expect(endpoint.stats()).toMatchObject({ arrivals: 0 });
    await eventually(() => endpoint.stats().openConnections === 0);
  });

  it('is judged before a byte is sent there', async () => {
    const closed = Promise.withResolvers<number>();
    const listener = createServer((socket) => {
      let bytes = 0;
      socket.on('data', (data) => (bytes += data.length));
      socket.on('error', () => undefined);
      socket.on('close', () => closed.resolve(bytes));
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const sender = await namedSender(shifting('200.147.3.1', '127.0.0.1'));
    const result = await post(sender, `https://${HOST}:${(listener.address() as AddressInfo).port}`);
    expect(result).toMatchObject({ kind: 'forbidden', reason: 'loopback' });
    expect(await closed.promise).toBe(0);
    listener.close();
  });

  it('must be one of the answer', async () => {
    const endpoint = await namedEndpoint();
    const resolve = shifting('127.0.0.9', '127.0.0.1');
    const sender = await namedSender(resolve, { addresses: { allowLoopback: true } });
    const result = await post(sender, `https://${HOST}:${endpoint.port}`);
    expect(result).toMatchObject({ kind: 'forbidden', reason: 'not of the answer' });
    expect(endpoint.stats()).toMatchObject({ arrivals: 0 });
  });
});

describe('§2.5 (6): TLS by name', () => {
  it('names the host in SNI, and no address', async () => {
    const names: unknown[] = [];
    const tls: EndpointOptions['tls'] = {
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    };
    const endpoint = await namedEndpoint({ tls });
    const resolve: Resolve = () => Promise.resolve(['127.0.0.1']);
    const sender = await namedSender(resolve, { addresses: { allowLoopback: true } });
    expect(await post(sender, `https://${HOST}:${endpoint.port}`)).toMatchObject({ status: 200 });
    await post(sender, `https://127.0.0.1:${endpoint.port}`);
    expect(names).toEqual([HOST]);
  });

  it.each([
    [['*.acme.com.br'], 200],
    [['*.com.br'], undefined],
    [['*.hook.acme.com.br'], undefined],
    [['hook.acme.com'], undefined],
  ])('for a certificate of %j gives %s', async (hosts, status) => {
    const authority = await sharedAuthority();
    const endpoint = await rig.endpoint(await authority.issue(hosts));
    const sender = await namedSender(() => Promise.resolve(['127.0.0.1']), {
      addresses: { allowLoopback: true },
    });
    const result = await post(sender, `https://${HOST}:${endpoint.port}`);
    expect(result).toMatchObject(
      status === undefined ? { error: 'TLS', code: 'ERR_TLS_CERT_ALTNAME_INVALID' } : { status },
    );
  });

  it('refuses a chain whose intermediate certificate is missing, and takes the whole one', async () => {
    const { caFile, leafPem, intermediatePem, keyPem } = await issueThroughIntermediate('localhost');
    const part = await rig.endpoint({ certPem: leafPem, keyPem });
    const whole = await rig.endpoint({ certPem: leafPem + intermediatePem, keyPem });
    const sender = rig.sender(part, { extraCaFile: caFile });
    expect(await post(sender, part.origin)).toMatchObject({
      error: 'TLS',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
    expect(await post(sender, whole.origin)).toMatchObject({ status: 200 });
    expect(part.stats().arrivals).toBe(0);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('has no certificate to show in %s', async (version) => {
    const tls = { minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: true };
    const endpoint = await rig.endpoint({ tls });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result.kind).toBe('unreachable');
    expect(endpoint.stats().arrivals).toBe(0);
  });
});

describe('§2.5 (7): one deadline for the whole way up', () => {
  it.each<[ConnectionBehaviour, string]>([
    ['hang', 'CONNECT_TIMEOUT'],
    ['drip-handshake', 'CONNECT_TIMEOUT'],
    ['reset', 'CONNECT'],
    ['end-in-handshake', 'CONNECT'],
    ['reset-in-handshake', 'CONNECT'],
  ])('a connection with %s ends with %s', async (connection, error) => {
    const endpoint = await rig.endpoint({ connection });
    const sender = rig.sender(endpoint, { connectTimeoutMs: 400 });
    const result = await post(sender, endpoint.origin);
    expect(result).toMatchObject({ kind: 'unreachable', error });
    expect(result.durationMs).toBeLessThan(1_500);
    await eventually(() => endpoint.stats().openConnections === 0);
  });
});

describe('§2.6: what goes to a receiver', () => {
  it('holds no cookie that it had set', async () => {
    const headers = { 'set-cookie': 'session=1; Path=/' };
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 200, headers } });
    const sender = rig.sender(endpoint);
    for (let i = 0; i < 2; i += 1) await post(sender, endpoint.origin);
    expect(endpoint.arrivals).toHaveLength(2);
    for (const { headers: sent } of endpoint.arrivals) {
      expect(Object.keys(sent)).not.toContain('cookie');
      expect(Object.keys(sent)).not.toContain('authorization');
    }
  });
});

describe('early responses', () => {
  const large = Buffer.alloc(4_000_000, 'x');

  it.each([200, 413])('of status %d count, though the body was not sent whole', async (status) => {
    const endpoint = await rig.endpoint({ early: { kind: 'status', status } });
    const sender = rig.sender(endpoint);
    for (let i = 0; i < 3; i += 1) {
      expect(await post(sender, endpoint.origin, large)).toMatchObject({ kind: 'responded', status });
    }
    expect(await post(sender, endpoint.origin, BODY)).toMatchObject({ kind: 'responded', status });
  });

  it('that never end are cut at the deadline', async () => {
    const endpoint = await rig.endpoint({ early: { kind: 'drip-body', status: 200, everyMs: 20 } });
    const sender = rig.sender(endpoint, { attemptTimeoutMs: 2_000 });
    expect(await post(sender, endpoint.origin, large)).toMatchObject({ status: 200, cut: true });
    await eventually(() => endpoint.stats().openConnections === 0);
  });

  it('to a body that nobody reads: the deadline ends it', async () => {
    const endpoint = await rig.endpoint({ early: { kind: 'hang' } });
    const sender = rig.sender(endpoint, { attemptTimeoutMs: 400 });
    const result = await post(sender, endpoint.origin, large);
    expect(result).toMatchObject({ error: 'TIMEOUT', code: 'DEADLINE' });
    // The endpoint does not read, so it cannot see the end.
    await eventually(() => sender.stats().connections === 0);
  });
});

describe('a connection cut at each byte of a response', () => {
  const head = 'HTTP/1.1 200 OK\r\nx-a: b\r\n';
  const answers: [string, string, string][] = [
    ['with a length', `${head}content-length: 5\r\n\r\n`, 'hello'],
    ['in chunks', `${head}transfer-encoding: chunked\r\n\r\n`, '5\r\nhello\r\n0\r\n\r\n'],
    ['that would close anyhow', `${head}connection: close\r\ncontent-length: 2\r\n\r\n`, 'ok'],
  ];

  it.each(answers)(
    '%s is no response before the end of its headers, and one after it',
    async (_, head, body) => {
      const endpoint = await rig.endpoint();
      const sender = rig.sender(endpoint);
      for (let length = 0; length <= head.length + body.length; length += 1) {
        endpoint.replyWith({ kind: 'raw', bytes: (head + body).slice(0, length), then: 'end' });
        const result = await post(sender, endpoint.origin);
        const cut = length < head.length + body.length;
        const whole = { kind: 'responded', status: 200, cut };
        expect({ length, ...result }).toMatchObject(
          length < head.length ? { length, kind: 'unreachable', error: 'SOCKET' } : { length, ...whole },
        );
      }
      expect(sender.stats().inFlight).toBe(0);
    },
  );

  it.each(answers)('%s by a reset is never anything else', async (_, head, body) => {
    const endpoint = await rig.endpoint();
    const sender = rig.sender(endpoint);
    for (let length = 0; length <= head.length + body.length; length += 1) {
      endpoint.replyWith({ kind: 'raw', bytes: (head + body).slice(0, length), then: 'reset' });
      const result = await post(sender, endpoint.origin);
      // The RST may overtake the bytes before it.
      if (result.kind === 'responded' && length >= head.length) expect(result.status).toBe(200);
      else expect({ length, ...result }).toMatchObject({ length, kind: 'unreachable', error: 'SOCKET' });
    }
    await eventually(() => sender.stats().connections === 0);
    endpoint.replyWith(204);
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 204 });
  });
});
