import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express5 from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import express4 from 'express4';
import { Webhook } from 'standardwebhooks';
import { NotificationError, createNotificationMiddleware } from '../../src/index.js';
import type { NotificationRequest } from '../../src/index.js';

const SECRET = `whsec_${Buffer.from('a secret of 24 bytes ...').toString('base64')}`;
const BODY = `{"id":"evt_1","eventType":"PIX_STATIC","occurredAt":"2026-11-21T14:03:27.512Z","data":{"endToEndId":"e","amount":"1.00"}}`;

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const post = (url: string, body: string | ReadableStream = BODY): Promise<Response> => {
  const time = new Date();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('evt_1', time, BODY),
  };
  return fetch(url, { method: 'POST', headers, body, duplex: 'half' });
};

const tellReason: ErrorRequestHandler = (error: Error, _request, response, _next) => {
  const { reason, status } = error instanceof NotificationError ? error : { reason: 'other', status: 500 };
  response.status(status).json(reason);
};

/** An application that responds with what the middleware found. */
function application(express: typeof express5, ...before: RequestHandler[]): RequestListener {
  const app = express();
  for (const handler of before) app.use(handler);
  const verify = createNotificationMiddleware({ secrets: [SECRET], maxBodyBytes: 1_024 });
  app.post('/', verify, ({ notification, rawBody }: NotificationRequest, response) => {
    response.json({ id: notification?.id, raw: Buffer.from(rawBody ?? []).toString() });
  });
  app.use(tellReason);
  return app as RequestListener;
}

describe.each([
  ['4', express4],
  ['5', express5],
])('the middleware under Express %s', (_, express) => {
  it.each([
    ['nothing before it', []],
    ['express.raw', [express.raw({ type: '*/*' })]],
    ['express.text', [express.text({ type: '*/*' })]],
    [
      'express.json that keeps the raw body',
      [express.json({ verify: (request, _, raw) => Object.assign(request, { rawBody: raw }) })],
    ],
    [
      'parsers of other types',
      [express.urlencoded({ extended: true }), express.json({ type: 'text/json' }), express.text()],
    ],
  ])('verifies the received body behind %s', async (_, before) => {
    const response = await post(await serve(application(express, ...before)));
    expect(await response.json()).toMatchObject({ id: 'evt_1' });
  });

  it('keeps the raw body', async () => {
    const response = await post(await serve(application(express)));
    expect(await response.json()).toEqual({ id: 'evt_1', raw: BODY });
  });

  it('names a body that a middleware before it has parsed', async () => {
    const response = await post(await serve(application(express, express.json())));
    expect([response.status, await response.json()]).toEqual([401, 'rewritten-body']);
  });
});

describe('the Express middleware', () => {
  it('names a body that was read before it, and takes one that is read as text', async () => {
    const drain: RequestHandler = (request, _, next) => void request.resume().once('end', () => next());
    const response = await post(await serve(application(express5, drain)));
    expect([response.status, await response.json()]).toEqual([401, 'rewritten-body']);
    const decode: RequestHandler = (request, _, next) => {
      request.setEncoding('utf8');
      next();
    };
    expect((await post(await serve(application(express5, decode)))).status).toBe(200);
  });

  it('refuses a body over its bound, and reads no more of it', async () => {
    const url = await serve(application(express5));
    const response = await post(url, BODY.padEnd(1_025));
    expect([response.status, await response.json()]).toEqual([413, 'too-large']);
    let pulled = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(1_024));
      },
    });
    await post(url, endless).catch(() => undefined);
    expect(pulled).toBeLessThan(10_000);
  });

  it.each([[''], [[]], [[SECRET, 'whsec_']]])('does not begin with %j as secrets', (secrets) => {
    expect(() => createNotificationMiddleware({ secrets })).toThrow(TypeError);
  });

  it('works without Express', async () => {
    const verify = createNotificationMiddleware({ secrets: SECRET });
    const url = await serve((request: NotificationRequest & Parameters<RequestListener>[0], response) =>
      verify(request, response, (error) => {
        response.end(error instanceof Error ? error.message : request.notification?.id);
      }),
    );
    expect(await (await post(url)).text()).toBe('evt_1');
    expect(await (await post(url, '{}')).text()).toMatch(/^wrong-secret: /);
    expect(await (await post(url, BODY.padEnd(65_536))).text()).toMatch(/^rewritten-body: /);
    expect(await (await post(url, BODY.padEnd(65_537))).text()).toMatch(/^too-large: /);
  });
});
