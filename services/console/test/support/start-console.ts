import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { freePort, startIssuer } from '@webhooks/local';
import type { IssuerOptions } from '@webhooks/local';
import { startInProcess } from '@webhooks/testkit';
import { composeConsole } from '../../src/server/compose.js';
import { readConsoleConfig } from '../../src/config.js';
import { Browser } from './browser.js';

const AUDIENCE = 'webhooks';
const READER = ['webhook.read', 'delivery.read', 'webhook.write'];
const PEOPLE = [
  { sub: 'ana', name: 'Ana', tenantId: 'acme', scopes: READER },
  { sub: 'bruno', name: 'Bruno', tenantId: 'globex', scopes: READER },
  { sub: 'olga', name: 'Olga', scopes: ['webhook.read', 'delivery.read', 'tenant.any'] },
];

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts a service that keeps what it receives, and responds with an empty list, or with the status of `failWith`. */
async function startService() {
  let failure: number | undefined;
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      const answer = { 'content-type': 'application/json', 'set-cookie': 'a=b' };
      response.writeHead(failure ?? 200, answer).end('{"data":[],"results":0}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ received, url: `http://127.0.0.1:${port}` },
    failWith: (status: number | undefined) => (failure = status),
    stop: () => server[Symbol.asyncDispose](),
  };
}

/** Starts the console beside a token issuer, and in place of both services one that keeps what it receives. */
export async function startConsole(ofIssuer: Partial<IssuerOptions> = {}) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const service = await startService();
  const webClient = {
    ...{ clientId: 'console', clientSecret: 'console-secret' },
    ...{ redirectUri: `${origin}/auth/callback`, signedOutUri: `${origin}/` },
  };
  const open = (issuerPort?: number) =>
    startIssuer({
      ...{ audience: AUDIENCE, clients: [], people: PEOPLE, webClient },
      ...(issuerPort !== undefined && { port: issuerPort }),
      ...ofIssuer,
    });
  let issuer = await open();
  let isIssuing = true;
  const stopIssuer = async () => {
    if (isIssuing) await issuer.stop();
    isIssuing = false;
  };
  const running = await startInProcess(
    { readConfig: readConsoleConfig, compose: composeConsole },
    {
      ...{ PORT: String(port), HOST: '127.0.0.1', PUBLIC_URL: origin, SHUTDOWN_DELAY_MS: '0' },
      ...{ CONFIG_API_URL: service.url, QUERY_API_URL: service.url },
      ...{ TOKEN_ISSUER: issuer.issuer, TOKEN_AUDIENCE: AUDIENCE },
      AUTHORIZATION_PARAMETERS:
        'scope=openid offline_access webhook.read webhook.write event.read cob.read pix.read delivery.read delivery.write tenant.any',
      ...{ CLIENT_ID: webClient.clientId, CLIENT_SECRET: webClient.clientSecret },
    },
  );
  const pageHeaders = { authorization: 'Bearer console:acme', 'sec-fetch-site': 'same-origin' };
  return {
    ...{
      origin,
      issuer: issuer.issuer,
      stopIssuer,
      received: service.received,
      failWith: service.failWith,
      lines: running.lines,
    },
    /** Signs a person in, and returns the browser and where it ended. */
    signIn: async (sub: string, path = '/') => {
      const browser = new Browser();
      const start = `${origin}/auth/sign-in?return=${encodeURIComponent(path)}`;
      const { url } = await browser.open(start);
      const { url: end, response } = await browser.open(`${url}?person=${sub}`);
      return { browser, end, response };
    },
    /** Makes a call as a page does. */
    call: (browser: Browser, path: string, init: RequestInit = {}) =>
      browser.send(`${origin}/api${path}`, {
        ...init,
        headers: { ...pageHeaders, ...(init.headers as object) },
      }),
    /** Replaces the issuer by one that knows no session and no token. */
    forgetPeople: async () => {
      await issuer.stop();
      issuer = await open(Number(new URL(issuer.issuer).port));
    },
    stop: async () => {
      await running.stop();
      await stopIssuer();
      await service.stop();
    },
  };
}
