import { eventually, sharedAuthority } from '@webhooks/testkit';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket, createSecureContext } from 'node:tls';
import { BODY, post, postTimes, Rig } from './rig.js';

const rig = new Rig();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await rig.close();
  for (const close of closing.splice(0)) await close();
});

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const LONE_OK = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n';

/** A TLS server that does with each connection what HTTP servers do not. */
async function openServer(onSecure: (tls: TLSSocket, tcp: Socket) => void, tlsOptions = {}) {
  const { certPem, keyPem } = await (await sharedAuthority()).issue(['localhost']);
  const secureContext = createSecureContext({ cert: certPem, key: keyPem, ...tlsOptions });
  const accepted: Socket[] = [];
  const server = createServer((tcp) => {
    accepted.push(tcp);
    const tls = new TLSSocket(tcp, { isServer: true, secureContext });
    for (const socket of [tcp, tls]) socket.on('error', () => undefined);
    tls.once('secure', () => onSecure(tls, tcp));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    for (const tcp of accepted) tcp.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://localhost:${port}`,
    connections: () => accepted.length,
  };
}

const trusting = async () => ({
  addresses: { allowLoopback: true },
  extraCaFile: (await sharedAuthority()).caFile,
});

describe('an endpoint that ends connections without a reason', () => {
  it('after each response costs a fresh connection, not a failure', async () => {
    const server = await openServer((tls) => {
      let received = '';
      tls.on('data', (bytes: Buffer) => {
        received += bytes.toString();
        // On a busy machine the body comes later than the head.
        if (received.endsWith(BODY.toString())) tls.write(LONE_OK, () => setTimeout(() => tls.end(), 5));
      });
    });
    const sender = rig.plainSender(await trusting());
    for (let posts = 0; posts < 10; posts += 1)
      expect(await post(sender, server.origin)).toEqual(
        expect.objectContaining({ kind: 'responded', status: 200 }),
      );
    const results = await postTimes(20, sender, server.origin);
    expect(results.map(({ kind }) => kind)).toEqual(Array(20).fill('responded'));
  });

  it('before each response is tried once on a used connection and once on a fresh one', async () => {
    let requests = 0;
    const server = await openServer((tls) => {
      tls.on('data', () => {
        requests += 1;
        if (requests === 1) tls.write(LONE_OK);
        else tls.destroy();
      });
    });
    const sender = rig.plainSender(await trusting());
    expect(await post(sender, server.origin)).toMatchObject({ status: 200 });
    expect(await post(sender, server.origin)).toMatchObject({ kind: 'unreachable', error: 'SOCKET' });
    expect([requests, server.connections()]).toEqual([3, 2]);
    expect(await post(sender, server.origin)).toMatchObject({ kind: 'unreachable', error: 'SOCKET' });
    expect([requests, server.connections()]).toEqual([4, 3]);
  });

  it('with a record that is no TLS behind the handshake gets one handshake for an attempt', async () => {
    const server = await openServer((_tls, tcp) => void tcp.write(Buffer.from('1703030004deadbeef', 'hex')));
    const sender = rig.plainSender({ ...(await trusting()), attemptTimeoutMs: 1_000 });
    expect(await post(sender, server.origin)).toMatchObject({ kind: 'unreachable' });
    expect(server.connections()).toBe(1);
  });
});

it('an endpoint cannot renegotiate TLS', async () => {
  let renegotiations = 0;
  const server = await openServer(
    (tls) => {
      const again = (): void => {
        tls.renegotiate({}, (error) => {
          if (error) return;
          renegotiations += 1;
          again();
        });
      };
      tls.once('data', again);
    },
    { maxVersion: 'TLSv1.2' },
  );
  const sender = rig.plainSender({ ...(await trusting()), attemptTimeoutMs: 1_000 });
  expect(await post(sender, server.origin)).toMatchObject({ kind: 'unreachable' });
  expect(renegotiations).toBe(0);
});

it('tenants share no connection: a late second response is never taken for that of another tenant', async () => {
  const endpoint = await rig.endpoint({ keepAliveTimeoutMs: 60_000 });
  const sender = rig.sender(endpoint);
  const target = { origin: endpoint.origin, path: '/hook' };
  for (const tenantId of ['acme', 'globex', 'acme', 'globex'])
    expect(await sender.post({ tenantId, target, headers: [], body: BODY })).toMatchObject({ status: 200 });
  expect(endpoint.stats()).toMatchObject({ connections: 2, arrivals: 4 });
});

describe('any response', () => {
  const token = fc.stringMatching(/^[A-Za-z][A-Za-z-]{0,9}$/).map((name) => `x-${name}`);
  const value = fc.stringMatching(/^[ -~]{0,20}$/);
  const status = fc.integer({ min: 200, max: 599 });
  const body = fc.stringMatching(/^[ -~]{0,40}$/);
  const framed = fc.tuple(body, fc.constantFrom('length', 'chunked', 'close')).map(([text, framing]) => {
    if (framing === 'length') return `content-length: ${text.length}\r\n\r\n${text}`;
    if (framing === 'close') return `connection: close\r\n\r\n${text}`;
    const chunk = text.length === 0 ? '' : `${text.length.toString(16)}\r\n${text}\r\n`;
    return `transfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`;
  });
  const good = fc.record({
    status: status.filter((code) => code !== 204 && code !== 304),
    fields: fc.array(fc.tuple(token, value), { maxLength: 5 }),
    framed,
  });
  const textOf = ({
    status: code,
    fields,
    framed: rest,
  }: typeof good extends fc.Arbitrary<infer T> ? T : never) =>
    `HTTP/1.1 ${code} X\r\n${fields.map(([name, text]) => `${name}: ${text}\r\n`).join('')}${rest}`;
  /** So many of each; a whole run has 10,000. */
  const numRuns = Number(process.env['FOREIGN_RESPONSES'] ?? 300);

  it('that is well formed has its status, and one that is damaged ends the attempt in time', async () => {
    const endpoint = await rig.endpoint({ remember: 1 });
    const sender = rig.sender(endpoint, { attemptTimeoutMs: 1_000 });
    await fc.assert(
      fc.asyncProperty(good, async (response) => {
        endpoint.replyWith({ kind: 'raw', bytes: textOf(response), then: 'end' });
        expect(await post(sender, endpoint.origin)).toMatchObject({
          ...{ kind: 'responded', status: response.status, cut: false },
        });
      }),
      { numRuns },
    );
    await fc.assert(
      fc.asyncProperty(good, fc.nat(), fc.uint8Array({ maxLength: 4 }), async (response, at, junk) => {
        const bytes = Buffer.from(textOf(response), 'latin1');
        const place = at % bytes.length;
        const damaged = Buffer.concat([bytes.subarray(0, place), junk, bytes.subarray(place + 1)]);
        endpoint.replyWith({ kind: 'raw', bytes: damaged, then: 'end' });
        const result = await post(sender, endpoint.origin);
        expect(result.durationMs).toBeLessThan(2_000);
        // Whatever came, no other status than what stands there.
        if (result.kind === 'responded') expect(damaged.toString('latin1')).toContain(` ${result.status}`);
      }),
      { numRuns },
    );
    endpoint.replyWith({ kind: 'raw', bytes: OK });
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200 });
    await eventually(() => sender.stats().inFlight === 0);
  });
});
