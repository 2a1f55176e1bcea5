import { eventually } from '@webhooks/testkit';
import { BODY, post, Rig } from './rig.js';

const rig = new Rig();
afterEach(() => rig.close());

describe('a sender', () => {
  it('posts exactly the bytes and headers it was given', async () => {
    const endpoint = await rig.endpoint();
    const bytes = Buffer.from('{"id":"evt_1","text":"é 🙂"}');
    const result = await post(rig.sender(endpoint), endpoint.origin, bytes);
    expect(result).toMatchObject({ kind: 'responded', status: 200, cut: false });
    const [arrival] = endpoint.arrivals;
    expect(arrival).toMatchObject({ method: 'POST', path: '/hook?token=s3cret', httpVersion: '1.1' });
    expect(arrival?.body.equals(bytes)).toBe(true);
    expect(arrival?.headers).toEqual({
      host: `localhost:${endpoint.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': '31',
      'webhook-id': 'evt_1',
    });
  });

  it.each([200, 201, 204, 299, 304, 400, 404, 410, 500, 599])('gives back status %d', async (status) => {
    const endpoint = await rig.endpoint({ reply: status });
    expect(await post(rig.sender(endpoint), endpoint.origin)).toMatchObject({ kind: 'responded', status });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %d', async (status) => {
    const other = await rig.endpoint();
    const endpoint = await rig.endpoint({
      reply: { kind: 'status', status, headers: { location: other.url } },
    });
    expect(await post(rig.sender(endpoint), endpoint.origin)).toMatchObject({ kind: 'responded', status });
    expect(other.stats()).toMatchObject({ connections: 0 });
  });

  it('gives back Retry-After as it came', async () => {
    const headers = { 'retry-after': 'Sat, 21 Nov 2026 14:05:00 GMT' };
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 429, headers } });
    expect(await post(rig.sender(endpoint), endpoint.origin)).toMatchObject({
      retryAfter: 'Sat, 21 Nov 2026 14:05:00 GMT',
    });
  });

  it('takes the first of several Retry-After, and none that is overlong', async () => {
    const headers = { 'retry-after': ['7', '9'] };
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 429, headers } });
    const sender = rig.sender(endpoint);
    expect(await post(sender, endpoint.origin)).toMatchObject({ retryAfter: '7' });
    endpoint.replyWith({ kind: 'status', status: 429, headers: { 'retry-after': '1'.repeat(65) } });
    expect(await post(sender, endpoint.origin)).not.toHaveProperty('retryAfter');
  });

  it('keeps one more header when the request names it, if that is short', async () => {
    const endpoint = await rig.endpoint();
    const sender = rig.sender(endpoint);
    const { origin } = endpoint;
    const request = { tenantId: 'acme', target: { origin, path: '/' }, headers: [], body: BODY };
    const respond = (value: string): void =>
      endpoint.replyWith({ kind: 'status', status: 200, headers: { 'X-Token': value } });
    respond('a'.repeat(64));
    expect(await sender.post({ ...request, keptHeader: 'x-token' })).toMatchObject({ kept: 'a'.repeat(64) });
    expect(await sender.post(request)).not.toHaveProperty('kept');
    respond('a'.repeat(65));
    expect(await sender.post({ ...request, keptHeader: 'x-token' })).not.toHaveProperty('kept');
  });

  it('understands an endpoint of HTTP/1.0, whose response ends with the connection', async () => {
    const bytes = 'HTTP/1.0 202 Accepted\r\ncontent-type: text/plain\r\n\r\nthank you';
    const endpoint = await rig.endpoint({ reply: { kind: 'raw', bytes, then: 'end' } });
    const sender = rig.sender(endpoint);
    expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'responded', status: 202, cut: false });
    expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'responded', status: 202 });
    expect(endpoint.stats().connections).toBe(2);
  });

  it.each([102, 103])('passes over a few informational responses (%d)', async (informational) => {
    const endpoint = await rig.endpoint({
      reply: { kind: 'informational', status: informational, count: 3 },
    });
    expect(await post(rig.sender(endpoint), endpoint.origin)).toMatchObject({
      kind: 'responded',
      status: 200,
    });
  });

  it('takes a response that comes while the body is still being sent', async () => {
    const early = { kind: 'status', status: 413, headers: { connection: 'close' } } as const;
    const endpoint = await rig.endpoint({ early });
    const result = await post(rig.sender(endpoint), endpoint.origin, Buffer.alloc(4_000_000, 'x'));
    expect(result).toMatchObject({ kind: 'responded', status: 413 });
  });

  it('reuses a connection, and opens no more than there are attempts at a time', async () => {
    const endpoint = await rig.endpoint();
    const sender = rig.sender(endpoint);
    for (let i = 0; i < 20; i += 1) await post(sender, endpoint.origin);
    expect(endpoint.stats()).toMatchObject({ arrivals: 20, connections: 1 });
    const lanes = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 25; i += 1) await post(sender, endpoint.origin);
    });
    await Promise.all(lanes);
    expect(endpoint.stats()).toMatchObject({ arrivals: 220, connections: 8 });
    expect(sender.stats()).toMatchObject({ inFlight: 0, pools: 1 });
  });

  it('opens a new connection after the endpoint closed the idle one', async () => {
    const endpoint = await rig.endpoint({ keepAliveTimeoutMs: 2_000 });
    const sender = rig.sender(endpoint, { keepAliveMs: 60_000 });
    await post(sender, endpoint.origin);
    await eventually(() => sender.stats().connections === 0);
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200 });
    expect(endpoint.stats().connections).toBe(2);
  });

  it("throws for a caller's mistake, which is no failure of the endpoint", async () => {
    const endpoint = await rig.endpoint();
    const sender = rig.sender(endpoint);
    const request = { tenantId: 'acme', target: { origin: endpoint.origin, path: '/hook' }, body: BODY };
    for (const value of ['one\r\nx-b: two', 'one\ntwo', 'a\0b', 'snow ☃']) {
      const headers = ['x-good', 'é\t1', 'x-a', value];
      await expect(sender.post({ ...request, headers })).rejects.toThrow('invalid x-a header');
    }
    for (const name of ['', 'x y', 'x:', 'x\r\ny', 'é', 'transfer-encoding', 'expect'])
      await expect(sender.post({ ...request, headers: [name, '1'] })).rejects.toThrow(/header/);
    const badPath = { origin: endpoint.origin, path: '/a b' };
    await expect(sender.post({ ...request, target: badPath, headers: [] })).rejects.toThrow(
      'invalid request path',
    );
    await expect(post(sender, 'no origin at all')).rejects.toThrow();
    expect(sender.stats().inFlight).toBe(0);
    expect(endpoint.stats().arrivals).toBe(0);
    expect(await post(sender, endpoint.origin)).toMatchObject({ status: 200 });
  });

  it('calls `mayStart` once there is a connection, and keeps the connection when it may not start', async () => {
    const endpoint = await rig.endpoint();
    const sender = rig.sender(endpoint);
    const opened: number[] = [];
    const target = { origin: endpoint.origin, path: '/hook' };
    const mayStart = () => {
      opened.push(sender.stats().connections);
      return false;
    };
    const request = { tenantId: 'acme', target, headers: [], body: BODY };
    expect(await sender.post({ ...request, mayStart })).toMatchObject({ kind: 'withdrawn' });
    expect(await sender.post({ ...request, mayStart: () => true })).toMatchObject({ status: 200 });
    expect(opened).toEqual([1]);
    expect(endpoint.stats()).toMatchObject({ connections: 1, arrivals: 1 });
  });

  it('withdraws any number of waiting attempts, one after the other', async () => {
    const endpoint = await rig.endpoint();
    const sender = rig.sender(endpoint, { usedConnectionMs: 60_000 });
    const request = {
      tenantId: 'acme',
      target: { origin: endpoint.origin, path: '/' },
      headers: [],
      body: BODY,
    };
    const posts = Array.from({ length: 5_000 }, () => sender.post({ ...request, mayStart: () => false }));
    for (const result of await Promise.all(posts)) expect(result.kind).toBe('withdrawn');
    expect(endpoint.stats().arrivals).toBe(0);
  });

  it('reports the end of a connection that was posted to, though the attempt may not start again', async () => {
    const endpoint = await rig.endpoint();
    const sender = rig.sender(endpoint);
    await post(sender, endpoint.origin);
    endpoint.replyWith({ kind: 'cut', stage: 'before-response', how: 'end' });
    let asked = 0;
    const request = {
      tenantId: 'acme',
      target: { origin: endpoint.origin, path: '/' },
      headers: [],
      body: BODY,
    };
    const result = await sender.post({ ...request, mayStart: () => (asked += 1) === 1 });
    expect(result).toMatchObject({ kind: 'unreachable', error: 'SOCKET' });
    expect(asked).toBe(2);
  });

  it('refuses plain http', async () => {
    const endpoint = await rig.endpoint({ plain: true });
    const result = await post(rig.sender(endpoint), `http://localhost:${endpoint.port}`);
    expect(result).toMatchObject({ kind: 'forbidden', error: 'ADDRESS_DENIED', reason: 'not https' });
    expect(endpoint.stats().connections).toBe(0);
  });

  it('lets attempts in flight end when it is closed, and takes no new ones', async () => {
    const endpoint = await rig.endpoint({ reply: { kind: 'status', status: 200, delayMs: 150 } });
    const sender = rig.sender(endpoint);
    const running = post(sender, endpoint.origin);
    await eventually(() => endpoint.stats().arrivals === 1);
    const closing = sender.close();
    await expect(post(sender, endpoint.origin)).rejects.toThrow('the sender is closed');
    await closing;
    expect(await running).toMatchObject({ status: 200 });
    expect(sender.stats()).toMatchObject({ pools: 0, inFlight: 0 });
    await eventually(() => endpoint.stats().openConnections === 0);
  });
});
