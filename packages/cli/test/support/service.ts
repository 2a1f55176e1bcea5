import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { emptyHome } from './run-webhooks.js';
import type { Environment } from './run-webhooks.js';

/** A text is sent as it is, as a proxy's page; anything else as JSON. */
type Respond = (
  nth: number,
  request: IncomingMessage,
) => readonly [status: number, body: unknown, location?: string];

const opened: Server[] = [];
afterAll(() => {
  for (const server of opened) server.close();
});

const TOKEN = { access_token: 'token', expires_in: 60 };
const own = (route: string): ReturnType<Respond> =>
  route === 'POST /token'
    ? [200, TOKEN]
    : [404, { title: 'No such resource', detail: route, code: 'not-found' }];

function send(response: ServerResponse, [status, body, location]: ReturnType<Respond>): void {
  const json = status < 400 ? 'application/json' : 'application/problem+json';
  const isPage = typeof body === 'string';
  response.writeHead(status, { 'content-type': isPage ? 'text/html' : json, ...(location && { location }) });
  response.end(isPage ? body : JSON.stringify(body));
}

/** A token issuer and a service that responds as a test says, by method and path; what is unknown has a 404. Returns what logs in. */
export async function startService(responses: Readonly<Record<string, Respond>>): Promise<Environment> {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume();
    const route = `${request.method ?? ''} ${request.url?.split('?')[0] ?? ''}`;
    const nth = (seen.get(route) ?? 0) + 1;
    seen.set(route, nth);
    send(response, responses[route.replace('/integration/v1', '')]?.(nth, request) ?? own(route));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(server);
  const { port } = server.address() as AddressInfo;
  const env = { ...emptyHome(), WEBHOOKS_URL: `http://127.0.0.1:${port}`, WEBHOOKS_CLIENT_ID: 'shop' };
  return { ...env, WEBHOOKS_TOKEN_ENDPOINT: `${env.WEBHOOKS_URL}/token`, WEBHOOKS_CLIENT_SECRET: 's3cret' };
}

export const webhook = (endpointUrl: string) => ({
  ...{ ref: '00000000-0000-4000-8000-000000000000', eventType: 'PIX_OUT', enabled: true, hasSecret: true },
  ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', endpointUrl },
});

export const delivery = {
  ...{ deliveryId: 'a'.repeat(52), ref: '', eventId: 'evt_1', eventType: 'PIX_OUT', status: 'delivered' },
  ...{ cycle: '0', redelivery: false, createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' },
};

/** A page of one notification, after which `id` is the cursor. */
export const page = (id: string) => ({
  results: 1,
  data: [{ id, eventType: 'PIX_OUT', body: '{}' }],
  ...{ nextCursor: id, hasMore: false },
});
