import { eventually } from '@webhooks/testkit';
import type { Reply, CutStage } from '@webhooks/testkit';
import { gzipSync } from 'node:zlib';
import type { SendResult } from '../src/index.js';
import { post, Rig } from './rig.js';

const rig = new Rig();
afterEach(() => rig.close());

/** Long enough for a connection, its TLS and the head of a response on a machine that is full. */
const DEADLINE_MS = 1_500;
/** How much later than a plain timer of this process, which a loaded machine may itself fire late. */
const LATE_MS = 250;

/** How long a plain timer takes in this process, started now. */
function timePlainTimer(delayMs = DEADLINE_MS): Promise<number> {
  const started = performance.now();
  return new Promise((resolve) => setTimeout(() => resolve(performance.now() - started), delayMs));
}

/** Posts to an endpoint that answers so; the attempt must have ended at the deadline. */
async function postUntilDeadline(reply: Reply): Promise<SendResult> {
  const endpoint = await rig.endpoint({ reply });
  const sender = rig.sender(endpoint, { attemptTimeoutMs: DEADLINE_MS });
  const [result, plainMs] = await Promise.all([post(sender, endpoint.origin), timePlainTimer()]);
  // Node's timers know whole milliseconds.
  expect(result.durationMs).toBeGreaterThan(DEADLINE_MS - 1);
  expect(result.durationMs).toBeLessThan(plainMs + LATE_MS);
  await eventually(() => endpoint.stats().openConnections === 0, { message: 'the connection is broken off' });
  return result;
}

const timedOut = { kind: 'unreachable', error: 'TIMEOUT', code: 'DEADLINE' };

describe('the deadline of an attempt', () => {
  it.each([
    ['earlier than', 200, 5_000, { error: 'TIMEOUT' }],
    ['later than', 5_000, 200, { status: 200 }],
  ])("is the request's own, %s that of the sender", async (_, timeoutMs, attemptTimeoutMs, outcome) => {
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 200, delayMs: 1_000 } });
    const sender = rig.sender(endpoint, { attemptTimeoutMs });
    const target = { origin: endpoint.origin, path: '/' };
    const request = { tenantId: 'acme', target, headers: [], body: Buffer.from('{}') };
    expect(await sender.post({ ...request, timeoutMs })).toMatchObject(outcome);
  });

  it.each<[string, Reply]>([
    ['that never answers', { kind: 'hang' }],
    ['that drips its headers', { kind: 'drip-headers', everyMs: 20 }],
    ['that begins a response and falls silent', { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nx-a: 1\r\n' }],
    [
      'that sends one informational response and no other',
      { kind: 'raw', bytes: 'HTTP/1.1 103 Early\r\n\r\n' },
    ],
  ])('holds for an endpoint %s', async (_, reply) => {
    expect(await postUntilDeadline(reply)).toMatchObject(timedOut);
  });

  it.each([200, 500])('holds for a body that drips after a %d, whose status counts', async (status) => {
    const result = await postUntilDeadline({ kind: 'drip-body', status, everyMs: 20 });
    expect(result).toMatchObject({ kind: 'responded', status, cut: true });
  });

  it('holds for a TCP connection that sends nothing, by the connect time-out', async () => {
    const endpoint = await rig.endpoint({ connection: 'hang' });
    const sender = rig.sender(endpoint, { connectTimeoutMs: 300 });
    const [result, plainMs] = await Promise.all([post(sender, endpoint.origin), timePlainTimer(300)]);
    expect(result).toMatchObject({ kind: 'unreachable', error: 'CONNECT_TIMEOUT', code: 'CONNECT_TIMEOUT' });
    expect(result.durationMs).toBeLessThan(plainMs + LATE_MS);
    await eventually(() => endpoint.stats().openConnections === 0);
  });

  it('holds for a name that is resolved for ever', async () => {
    const endpoint = await rig.endpoint();
    const resolve = (): Promise<never> => new Promise(() => undefined);
    const sender = rig.sender(endpoint, { connectTimeoutMs: 200, resolve });
    const posted = post(sender, `https://hook.acme.com.br:${endpoint.port}`);
    const [result, plainMs] = await Promise.all([posted, timePlainTimer(200)]);
    expect(result).toMatchObject({ kind: 'unreachable', error: 'CONNECT_TIMEOUT' });
    expect(result.durationMs).toBeLessThan(plainMs + LATE_MS);
  });

  it('holds for attempts that wait for a connection, and leaves that connection open', async () => {
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 200, delayMs: 800 } });
    const oneConnection = { handshakesPerOrigin: 1, usedConnectionMs: 60_000 };
    const sender = rig.sender(endpoint, { attemptTimeoutMs: DEADLINE_MS, ...oneConnection });
    const results = await Promise.all([1, 2, 3, 4].map(() => post(sender, endpoint.origin)));
    expect(results[0]).toMatchObject({ kind: 'responded', status: 200 });
    for (const late of results.slice(1)) expect(late).toMatchObject(timedOut);
    endpoint.replyWith(200);
    expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'responded', status: 200 });
    expect(sender.stats()).toMatchObject({ inFlight: 0 });
  });

  it('holds for each of many attempts that hang side by side', async () => {
    const endpoint = await rig.endpoint({ reply: { kind: 'hang' } });
    const sender = rig.sender(endpoint, { attemptTimeoutMs: DEADLINE_MS });
    const plainTimer = timePlainTimer();
    const results = await Promise.all(Array.from({ length: 64 }, () => post(sender, endpoint.origin)));
    const plainMs = await plainTimer;
    for (const result of results) {
      expect(result).toMatchObject(timedOut);
      expect(result.durationMs).toBeLessThan(plainMs + LATE_MS);
    }
  });
});

describe('the limits of a response', () => {
  it('break off an endless body, whose status counts', async () => {
    const endpoint = await rig.endpoint({ reply: { kind: 'endless-body' } });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ kind: 'responded', status: 200, cut: true });
    expect(result.durationMs).toBeLessThan(2_000);
    await eventually(() => endpoint.stats().openConnections === 0);
    // What left the endpoint beyond the limit stood in the buffers of the kernel.
    expect(endpoint.stats().endlessBytes).toBeLessThan(8_000_000);
  });

  it('let a body of exactly the limit pass', async () => {
    const body = Buffer.alloc(65_536, 'x');
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 200, body } });
    const sender = rig.sender(endpoint);
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200, cut: false });
    endpoint.replyWith({ kind: 'status', status: 200, body: Buffer.alloc(65_537, 'x') });
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200, cut: true });
    endpoint.replyWith(200);
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200, cut: false });
    expect(endpoint.stats().connections).toBe(2);
  });

  it('never unpack a compressed body', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const headers = { 'content-encoding': 'gzip' };
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 200, headers, body: bomb } });
    const before = process.memoryUsage().rss;
    expect(await post(rig.sender(endpoint), endpoint.origin)).toMatchObject({ status: 200 });
    expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000);
    expect(endpoint.arrivals[0]?.headers).not.toHaveProperty('accept-encoding');
  });

  it('break off an endless header block, whose status counts', async () => {
    const endpoint = await rig.endpoint({ reply: { kind: 'endless-headers' } });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ kind: 'responded', status: 200, cut: true });
    await eventually(() => endpoint.stats().openConnections === 0);
  });

  it('break off a flood of informational responses', async () => {
    const endpoint = await rig.endpoint({ reply: { kind: 'informational' } });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ kind: 'unreachable', error: 'PROTOCOL', code: 'TOO_LONG' });
    await eventually(() => endpoint.stats().openConnections === 0);
  });

  it('break off a body of too many lines, and keep the Retry-After before it', async () => {
    const head = 'HTTP/1.1 503 Busy\r\nretry-after: 600\r\ncontent-length: 500\r\n\r\n';
    const endpoint = await rig.endpoint({ reply: { kind: 'raw', bytes: head + '\n'.repeat(500) } });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ status: 503, retryAfter: '600', cut: true });
  });

  it('break off an endless chunk extension, whose status counts', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;';
    const endpoint = await rig.endpoint({ reply: { kind: 'raw', bytes: head + 'x'.repeat(200_000) } });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ status: 200, cut: true });
    expect(result.durationMs).toBeLessThan(5_000);
  });

  it.each([
    ['garbage', 'not HTTP at all\r\n\r\n'],
    ['another protocol version', 'HTTP/3.7 200 OK\r\n\r\n'],
    ['an unasked upgrade', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ])('take %s as a fault of protocol', async (_, bytes) => {
    const endpoint = await rig.endpoint({ reply: { kind: 'raw', bytes } });
    const result = await post(rig.sender(endpoint, { attemptTimeoutMs: 2_000 }), endpoint.origin);
    expect(result).toMatchObject({ kind: 'unreachable', error: 'PROTOCOL' });
    expect(result.durationMs).toBeLessThan(2_000);
  });

  const NO_BODY = 'content-length: 0\r\n\r\n';
  it.each([
    ['bare line feeds', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
    ['a folded header', `HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\n${NO_BODY}`],
    ['a control character in a name', `HTTP/1.1 200 OK\r\nx\u0001a: b\r\n${NO_BODY}`],
    ['a blank in a name', `HTTP/1.1 200 OK\r\nx a : b\r\n${NO_BODY}`],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
    ['two equal lengths', `HTTP/1.1 200 OK\r\ncontent-length: 0\r\n${NO_BODY}`],
    [
      'a length beside chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['an unasked 100', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n${NO_BODY}`],
    ['three hundred headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(300)}${NO_BODY}`],
    [
      'a body in chunks of one byte',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(300)}0\r\n\r\n`,
    ],
    [
      'interim responses of bare line feeds',
      `HTTP/1.1 103 Hints\nlink: x\n\nHTTP/1.1 102\n\nHTTP/1.1 200\n${NO_BODY}`,
    ],
  ])('take the status of a response with %s', async (_, bytes) => {
    const endpoint = await rig.endpoint({ reply: { kind: 'raw', bytes } });
    const sender = rig.sender(endpoint, { attemptTimeoutMs: 2_000 });
    expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'responded', status: 200 });
    endpoint.replyWith({ kind: 'raw', bytes: bytes.replace('200', '503') });
    expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'responded', status: 503 });
    expect(endpoint.stats().arrivals).toBe(2);
  });

  it('never take an unrequested second response for the response to the next request', async () => {
    const one = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    const endpoint = await rig.endpoint({ reply: { kind: 'raw', bytes: one + one.replace('200', '201') } });
    const sender = rig.sender(endpoint);
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200 });
    await eventually(() => sender.stats().connections === 0);
    endpoint.replyWith(204);
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 204 });
  });
});

describe('a connection that breaks', () => {
  const stages: CutStage[] = ['before-response', 'in-headers'];

  it.each(stages.flatMap((stage) => [[stage, 'reset'] as const, [stage, 'end'] as const]))(
    '%s by %s is a failure of the socket',
    async (stage, how) => {
      const endpoint = await rig.endpoint({ reply: { kind: 'cut', stage, how } });
      const sender = rig.sender(endpoint);
      expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'unreachable', error: 'SOCKET' });
      expect(endpoint.stats().arrivals).toBe(1);
      endpoint.replyWith(200);
      expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'responded', status: 200 });
    },
  );

  it.each(['reset', 'end'] as const)('in the body of a 200 by %s leaves the 200 standing', async (how) => {
    const endpoint = await rig.endpoint({ reply: { kind: 'cut', stage: 'in-body', how } });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ kind: 'responded', status: 200, cut: true });
  });

  it('before TLS is a failure to connect', async () => {
    const endpoint = await rig.endpoint({ connection: 'reset' });
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ kind: 'unreachable', error: 'CONNECT', code: 'ECONNRESET' });
  });

  it('cannot even be opened when nobody listens', async () => {
    const endpoint = await rig.endpoint();
    await endpoint.close();
    const result = await post(rig.sender(endpoint), endpoint.origin);
    expect(result).toMatchObject({ kind: 'unreachable', error: 'CONNECT', code: 'ECONNREFUSED' });
  });

  it('never shows query or body in what it says', async () => {
    const endpoint = await rig.endpoint({ reply: { kind: 'cut', stage: 'before-response' } });
    const results = [await post(rig.sender(endpoint), endpoint.origin)];
    endpoint.replyWith({ kind: 'raw', bytes: 'garbage s3cret-answer\r\n\r\n' });
    results.push(await post(rig.sender(endpoint), endpoint.origin));
    expect(JSON.stringify(results)).not.toMatch(/s3cret|hook|evt_1|localhost|127\.0/);
  });
});
