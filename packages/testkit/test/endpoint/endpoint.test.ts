import { readFile, mkdtemp } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startEndpoint } from '../../src/index.js';
import type { Endpoint, EndpointOptions } from '../../src/index.js';

const open: Endpoint[] = [];
async function start(options: EndpointOptions = {}): Promise<Endpoint> {
  const endpoint = await startEndpoint(options);
  open.push(endpoint);
  return endpoint;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

interface Posted {
  readonly status: number;
  readonly body: string;
}

async function post(endpoint: Endpoint, body: string | Buffer, more: RequestOptions = {}): Promise<Posted> {
  const ca = await readFile(endpoint.caFile);
  return new Promise((resolve, reject) => {
    const sent = request(endpoint.url, { method: 'POST', ca, ...more }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

describe('startEndpoint', () => {
  it('records method, path, headers and the exact bytes over real TLS', async () => {
    const endpoint = await start();
    const bytes = Buffer.from('{"id":"evt_1",  "text":"é 🙂"}');
    const before = Date.now();
    const response = await post(endpoint, bytes, { headers: { 'X-Test': 'yes', 'webhook-id': 'evt_1' } });
    expect(response.status).toBe(200);
    const [arrival] = endpoint.arrivals;
    expect(arrival).toMatchObject({ method: 'POST', path: '/hook', id: 'evt_1', nth: 1, index: 1 });
    expect(arrival?.headers['x-test']).toBe('yes');
    expect(arrival?.body.equals(bytes)).toBe(true);
    expect(arrival?.receivedAt).toBeGreaterThan(before - 1_000);
  });

  it('calls the script with the arrival and how often its id came', async () => {
    const endpoint = await start({ reply: ({ nth }) => (nth === 1 ? 503 : 204) });
    const headers = { 'webhook-id': 'evt_9' };
    expect((await post(endpoint, '{}', { headers })).status).toBe(503);
    expect((await post(endpoint, '{}', { headers })).status).toBe(204);
    expect(endpoint.stats()).toMatchObject({ arrivals: 2, distinctIds: 1 });
    endpoint.replyWith({ kind: 'status', status: 302, headers: { location: '/else' }, body: 'moved' });
    expect(await post(endpoint, '{}', { headers })).toEqual({ status: 302, body: 'moved' });
  });

  it('appends one line for each arrival before it replies', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'arrivals-')), 'arrivals.ndjson');
    const endpoint = await start({ file });
    await post(endpoint, '{}', { headers: { 'webhook-id': 'evt_1' } });
    await post(endpoint, 'é');
    await endpoint.close();
    open.length = 0;
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { id: 'evt_1', path: '/hook', status: 200, body: '{}' },
      { id: '', status: 200, body: 'é' },
    ]);
  });

  it('counts connections, so that a reused one counts once', async () => {
    const endpoint = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await post(endpoint, '1', { agent });
    await post(endpoint, '2', { agent });
    expect(endpoint.stats()).toMatchObject({ arrivals: 2, connections: 1, openConnections: 1 });
    agent.destroy();
    await eventually(() => endpoint.stats().openConnections === 0);
  });

  it('resets a connection at once, or in place of a reply', async () => {
    const before = await start({ connection: 'reset' });
    await expect(post(before, '{}')).rejects.toMatchObject({ code: 'ECONNRESET' });
    const after = await start({ reply: { kind: 'cut', stage: 'before-response' } });
    await expect(post(after, '{}')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(after.arrivals).toHaveLength(1);
  });

  it('keeps only the newest arrivals in memory', async () => {
    const endpoint = await start({ remember: 1 });
    await post(endpoint, '1');
    await post(endpoint, '2');
    expect(endpoint.arrivals.map(({ body }) => body.toString())).toEqual(['2']);
    expect(endpoint.stats().arrivals).toBe(2);
  });
});
