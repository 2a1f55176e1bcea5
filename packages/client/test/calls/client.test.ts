import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { ConnectionError, ProblemError, UnexpectedResponseError, createClient } from '../../src/index.js';
import type { Client } from '../../src/index.js';
import { LIST, ScriptedService, WEBHOOK } from '../support/scripted-service.js';
import type { ScriptedResponse } from '../support/scripted-service.js';

let service: ScriptedService;
let url: string;

beforeEach(async () => {
  service = await ScriptedService.open();
  ({ url } = service);
});
afterEach(() => service.close());

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

const EVENT = {
  eventType: 'PIX_STATIC',
  occurredAt: 'x',
  data: { endToEndId: 'e', amount: '1.00' },
} as const;

const client = (over: Partial<Parameters<typeof createClient>[0]> = {}): Client =>
  createClient({
    baseUrl: url,
    credentials: { tokenEndpoint: `${url}/token`, clientId: 'a b', clientSecret: 's:ä' },
    maxWaitMs: 20,
    ...over,
  });

const calls = (): string[] => service.requests.map(({ line }) => line);
const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (fault: unknown) => fault,
  );
const problemOf = async (work: Promise<unknown>): Promise<ProblemError> => {
  const error = await faultOf(work);
  if (error instanceof ProblemError) return error;
  throw new Error('expected a problem', { cause: error });
};

const abortable = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason: string) => controller.abort(new Error(reason)) };
};

describe('a signal', () => {
  /** Resolves when the service has read a request and does not respond. */
  const heldRequest = (): Promise<unknown> => {
    service.server.removeAllListeners('request');
    return once(service.server, 'request');
  };

  it('ends a call that waits for its response, or for its token, which other callers still get', async () => {
    const own = client({ maxRetries: 0 });
    const [aborted, patient] = [new AbortController(), new AbortController()];
    const held = heldRequest();
    const work = [aborted, patient].map(({ signal }) => faultOf(own.list({}, { signal })));
    const [, response] = (await held) as [IncomingMessage, ServerResponse];
    aborted.abort(new Error('no more'));
    expect(await work[0]).toMatchObject({ message: 'no more' });
    const listing = once(service.server, 'request');
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"late"}');
    const [request] = (await listing) as [IncomingMessage];
    expect(request.headers.authorization).toBe('Bearer late');
    patient.abort(new Error('enough'));
    expect(await work[1]).toMatchObject({ message: 'enough' });
  });

  it('ends a wait between two tries', async () => {
    const { signal, abort } = abortable();
    service.script = [{ status: 503, headers: { 'retry-after': '60' } }];
    service.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.method === 'GET') response.once('finish', () => abort('enough'));
    });
    const error = await faultOf(client({ maxWaitMs: 60_000 }).list({}, { signal }));
    expect(error).toMatchObject({ message: 'enough' });
    expect(calls()).toEqual(['POST /token', 'GET /integration/v1/webhooks']);
  });
});

describe('a call', () => {
  it('is repeated after 503, 429 and a broken connection, until it succeeds', async () => {
    service.script = [
      { status: 503, headers: { 'retry-after': '0' } },
      { status: 429 },
      { status: 0, cut: true },
      { status: 202, body: { id: 'evt_1', status: 'accepted' } },
    ];
    expect(await client().postEvent(EVENT)).toBe('evt_1');
    expect(calls().filter((line) => line.endsWith('/events'))).toHaveLength(4);
  });

  it('is not repeated after a response that will stay, which becomes a typed error', async () => {
    service.script = [{ status: 422, body: PROBLEM }];
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

  it('gives up after its retries with the last response, a page of a proxy included', async () => {
    service.script = Array.from({ length: 3 }, () => ({
      status: 502,
      body: '<html>',
      headers: { 'content-type': 'text/html' },
    }));
    const { problem } = await problemOf(client({ maxRetries: 2 }).get('r'));
    expect(problem).toMatchObject({ status: 502, code: 'unknown' });
    expect(calls().filter((line) => line.includes('/webhooks/'))).toHaveLength(3);
  });

  it('does not follow a redirect', async () => {
    service.script = [{ status: 307, headers: { location: `${url}/elsewhere` }, body: {} }];
    await expect(client().list()).rejects.toThrow(UnexpectedResponseError);
    expect(calls()).toEqual(['POST /token', 'GET /integration/v1/webhooks']);
  });

  it.each<[string, ScriptedResponse]>([
    ['a redirect', { status: 308, headers: { location: 'https://x.y' } }],
    ['a page', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
    [
      'a page with the right status',
      { status: 202, body: '<html>', headers: { 'content-type': 'text/html' } },
    ],
    ['no content', { status: 204 }],
    ['another status below 400', { status: 200, body: { id: 'evt_1', results: [] } }],
    ['the right status without an id', { status: 202, body: { id: 7, results: [{ index: 'a' }] } }],
  ])('promises nothing for %s', async (_, given) => {
    service.script = [given, given];
    for (const work of [client().postEvent(EVENT), client().postEvents([EVENT])]) {
      const error = await faultOf(work);
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({ status: given.status, method: 'POST', origin: url });
    }
  });

  it('ends at its time-out, the client’s or its own', async () => {
    const patient = client({ maxRetries: 0 });
    await patient.token();
    service.server.removeAllListeners('request');
    for (const [work, method] of [
      [client({ timeoutMs: 100, maxRetries: 0 }).list(), 'POST'],
      [patient.list({}, { timeoutMs: 100 }), 'GET'],
    ] as const) {
      const error = await faultOf(work);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ code: 'ECONNABORTED', method, origin: url });
    }
  });

  it('ends at its time-out even while a response comes byte by byte', async () => {
    const own = client({ timeoutMs: 200, maxRetries: 0 });
    await own.token();
    service.server.removeAllListeners('request');
    service.server.on('request', (_request, response: ServerResponse) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(drip));
    });
    expect(await faultOf(own.list())).toMatchObject({ code: 'ECONNABORTED' });
  });

  it.each([
    ['the token is requested', '/token', 's:ä'],
    ['the service is called', '/integration', 'token-1'],
  ])('that finds no connection while %s throws an error without secrets', async (_, path, secret) => {
    const breakAt = (request: IncomingMessage): unknown =>
      request.url?.startsWith(path) === true && request.socket.destroy();
    service.server.prependListener('request', breakAt);
    const error = await faultOf(client({ maxRetries: 0 }).postEvent(EVENT));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'ECONNRESET', method: 'POST', origin: url });
    expect((error as ConnectionError).cause).toBeInstanceOf(Error);
    const shown = `${inspect(error, { depth: 20, showHidden: true })} ${JSON.stringify(error)} ${String(error)}`;
    for (const word of [secret, encodeURIComponent(secret), 'Basic ', 'Bearer ', 'authorization'])
      expect(shown).not.toContain(word);
  });
});

describe('the operations', () => {
  it('speak the paths and bodies of the service', async () => {
    const own = client();
    service.script = [
      { status: 200, body: WEBHOOK },
      { status: 200, body: LIST },
      { status: 200, body: WEBHOOK },
      { status: 200, body: { ref: 'r', secret: 'whsec_x', published: false } },
      { status: 204 },
      { status: 202 },
    ];
    await own.update({ ref: 'r', eventType: 'PIX_OUT', endpointUrl: 'https://x.y', enabled: false });
    await own.list({ enabled: true, limit: 5 });
    await own.get('a/b');
    const { published } = await own.rotateSecret('r');
    expect(published).toBe(false);
    await own.removeSecret('r');
    await own.removeSecret('r');
    expect(calls().slice(1)).toEqual([
      'PUT /integration/v1/webhooks',
      'GET /integration/v1/webhooks?enabled=true&limit=5',
      'GET /integration/v1/webhooks/a%2Fb',
      'POST /integration/v1/webhooks/r/secret',
      'DELETE /integration/v1/webhooks/r/secret',
      'DELETE /integration/v1/webhooks/r/secret',
    ]);
    expect(JSON.parse(service.requests[1]?.body ?? '')).toEqual({
      ref: 'r',
      eventType: 'PIX_OUT',
      endpointUrl: 'https://x.y',
      enabled: false,
    });
  });

  it('pull page after page, and wait as long for one as the service may', async () => {
    const own = client({ timeoutMs: 2_000, maxRetries: 0 });
    const page = { data: [{ id: 'e', eventType: 'PIX_OUT', body: '{}' }], results: 1, hasMore: false };
    service.script = [
      { status: 200, body: { ...page, nextCursor: '1.2' } },
      { status: 200, body: page },
    ];
    expect(await own.notifications({ limit: 1 })).toEqual({ ...page, nextCursor: '1.2' });
    await expect(own.notifications({ after: '1.2' })).rejects.toThrow(UnexpectedResponseError);
    service.server.removeAllListeners('request');
    const begin = performance.now();
    await expect(own.notifications({ after: 'now', wait: 1 })).rejects.toThrow(ConnectionError);
    expect(performance.now() - begin).toBeGreaterThan(2_900);
    expect(calls().slice(1)).toEqual([
      'GET /integration/v1/notifications?limit=1',
      'GET /integration/v1/notifications?after=1.2',
    ]);
  });

  it('refuse a response that is not theirs', async () => {
    const own = client();
    const input = { eventType: 'PIX_OUT', endpointUrl: 'https://x.y' } as const;
    for (const work of [
      () => own.register(input),
      () => own.update(input),
      () => own.get('r'),
      () => own.list(),
      () => own.rotateSecret('r'),
    ]) {
      service.script = [{ status: 200, body: { ref: 7, data: [{}], results: 1 } }];
      await expect(work()).rejects.toThrow(UnexpectedResponseError);
    }
    service.script = [{ status: 200, body: {} }];
    await expect(own.removeSecret('r')).rejects.toThrow(UnexpectedResponseError);
  });

  it.each<[string, ScriptedResponse]>([
    ['a lost response', { status: 0, cut: true }],
    ['503', { status: 503 }],
    ['429', { status: 429 }],
  ])('never rotate a secret a second time by themselves, even after %s', async (_, given) => {
    service.script = [given, { status: 200, body: { ref: 'r', secret: 'whsec_x' } }];
    await expect(client().rotateSecret('r')).rejects.toThrow();
    expect(calls()).toEqual(['POST /token', 'POST /integration/v1/webhooks/r/secret']);
  });

  it('give the results of a batch even when none was accepted', async () => {
    const results = [{ index: 0, status: 'invalid' }];
    service.script = [
      { status: 202, body: { results } },
      { status: 422, body: { ...PROBLEM, code: 'no-event-accepted', results } },
    ];
    expect(await client().postEventLines('{}\n')).toEqual(results);
    expect(service.requests.at(-1)).toMatchObject({ contentType: 'application/x-ndjson', body: '{}\n' });
    expect(await client().postEvents([])).toEqual(results);
  });
});
