import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProblemError, createClient } from '../src/index.js';
import type { Client } from '../src/index.js';

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Break the connection instead of answering. */
  readonly cut?: boolean;
}

interface Asked {
  readonly line: string;
  readonly authorization: string;
  readonly contentType: string;
  readonly body: string;
}

let server: Server;
let url: string;
let asked: Asked[];
let script: Answer[];

const PROBLEM = {
  type: 'urn:webhooks:problem:x',
  title: 't',
  status: 422,
  detail: 'd',
  code: 'webhook-already-registered',
  correlationId: 'c',
  violations: [],
  ref: 'r',
};

const nextAnswer = (path: string | undefined): Answer =>
  path === '/token'
    ? { status: 200, body: { access_token: `token-${asked.length}`, expires_in: 600 } }
    : (script.shift() ?? { status: 200, body: {} });

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
  const { authorization = '', 'content-type': contentType = '' } = request.headers;
  asked.push({ line: `${String(request.method)} ${String(request.url)}`, authorization, contentType, body });
  const next = nextAnswer(request.url);
  if (next.cut === true) response.destroy();
  else
    response
      .writeHead(next.status, { 'content-type': 'application/json', ...next.headers })
      .end(textOf(next.body));
}

beforeEach(async () => {
  asked = [];
  script = [];
  server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const client = (over: Partial<Parameters<typeof createClient>[0]> = {}): Client =>
  createClient({
    baseUrl: url,
    credentials: { tokenEndpoint: `${url}/token`, clientId: 'a b', clientSecret: 's:ä' },
    maxWaitMs: 20,
    ...over,
  });

const calls = (): string[] => asked.map(({ line }) => line);
const problemOf = async (work: Promise<unknown>): Promise<ProblemError> => {
  const error: unknown = await work.then(
    () => undefined,
    (fault: unknown) => fault,
  );
  if (error instanceof ProblemError) return error;
  throw new Error('expected a problem', { cause: error });
};

describe('a token', () => {
  it('is asked for once, by callers at the same time too, with credentials encoded as RFC 6749 §2.3.1 says', async () => {
    const own = client();
    await Promise.all([own.list(), own.list()]);
    await own.list();
    expect(calls().filter((line) => line === 'POST /token')).toHaveLength(1);
    expect(Buffer.from((asked[0]?.authorization ?? '').slice(6), 'base64').toString()).toBe(
      'a%20b:s%3A%C3%A4',
    );
    expect(asked.at(-1)?.authorization).toBe('Bearer token-1');
  });
});

describe('a call', () => {
  it('is repeated after 503, 429 and a broken connection, and then answers', async () => {
    script = [
      { status: 503, headers: { 'retry-after': '1' } },
      { status: 429 },
      { status: 0, cut: true },
      { status: 200, body: { id: 'evt_1', status: 'accepted' } },
    ];
    const event = {
      eventType: 'PIX_STATIC',
      occurredAt: 'x',
      data: { endToEndId: 'e', amount: '1.00' },
    } as const;
    expect(await client().postEvent(event)).toBe('evt_1');
    expect(calls().filter((line) => line.endsWith('/events'))).toHaveLength(4);
  });

  it('is not repeated after an answer that will stay, which becomes a typed error', async () => {
    script = [{ status: 422, body: PROBLEM }];
    const { problem, message } = await problemOf(
      client().register({ eventType: 'PIX_OUT', endpointUrl: 'https://x.y' }),
    );
    expect(problem).toMatchObject({
      status: 422,
      code: 'webhook-already-registered',
      correlationId: 'c',
      members: { ref: 'r' },
    });
    expect(message).toBe('422 webhook-already-registered: d');
    expect(calls()).toEqual(['POST /token', 'POST /integration/v1/webhooks']);
  });

  it('gives up after its retries with the last answer, a page of a proxy included', async () => {
    script = Array.from({ length: 3 }, () => ({
      status: 502,
      body: '<html>',
      headers: { 'content-type': 'text/html' },
    }));
    const { problem } = await problemOf(client({ maxRetries: 2 }).get('r'));
    expect(problem).toMatchObject({ status: 502, code: 'unknown' });
    expect(calls().filter((line) => line.includes('/webhooks/'))).toHaveLength(3);
  });

  it('does not follow a redirect', async () => {
    script = [{ status: 307, headers: { location: `${url}/elsewhere` }, body: {} }];
    await client({ maxRetries: 0 }).list();
    expect(calls()).not.toContain('GET /elsewhere');
  });

  it('ends at its time-out', async () => {
    server.removeAllListeners('request');
    await expect(client({ timeoutMs: 100, maxRetries: 0 }).list()).rejects.toMatchObject({
      code: 'ECONNABORTED',
    });
  });
});

describe('the operations', () => {
  it('speak the paths and bodies of the service', async () => {
    const own = client();
    await own.update({ ref: 'r', eventType: 'PIX_OUT', endpointUrl: 'https://x.y', enabled: false });
    await own.list({ enabled: true, limit: 5 });
    await own.get('a/b');
    await own.rotateSecret('r');
    await own.removeSecret('r');
    expect(calls().slice(1)).toEqual([
      'PUT /integration/v1/webhooks',
      'GET /integration/v1/webhooks?enabled=true&limit=5',
      'GET /integration/v1/webhooks/a%2Fb',
      'POST /integration/v1/webhooks/r/secret',
      'DELETE /integration/v1/webhooks/r/secret',
    ]);
    expect(JSON.parse(asked[1]?.body ?? '')).toEqual({
      ref: 'r',
      eventType: 'PIX_OUT',
      endpointUrl: 'https://x.y',
      enabled: false,
    });
  });

  it('give the results of a batch, also when none was accepted', async () => {
    const results = [{ index: 0, status: 'invalid' }];
    script = [
      { status: 202, body: { results } },
      { status: 422, body: { ...PROBLEM, code: 'no-event-accepted', results } },
    ];
    expect(await client().postEventLines('{}\n')).toEqual(results);
    expect(asked.at(-1)).toMatchObject({ contentType: 'application/x-ndjson', body: '{}\n' });
    expect(await client().postEvents([])).toEqual(results);
  });
});
