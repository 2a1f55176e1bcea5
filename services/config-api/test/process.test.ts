import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { createClient } from '@webhooks/client';
import { freePort, startIssuer, testMongoUri } from '@webhooks/local';
import type { DevelopmentClient, Issuer } from '@webhooks/local';
import { AUDIENCE, eventually, TokenDesk, randomName } from '@webhooks/testkit';
import { createConnection } from 'mongoose';
import { WEBHOOKS, createCaller } from './support/caller.js';
import { openConfigurationTopic } from './support/configuration-topic.js';
import { environment, makeTopics } from './support/start-config-api.js';
import { startProcess } from './support/service-process.js';
import type { ServiceProcess } from './support/service-process.js';

let desk: TokenDesk;
const started: ServiceProcess[] = [];

beforeAll(async () => {
  await makeTopics();
  desk = await TokenDesk.open();
});
afterAll(async () => {
  for (const service of started) service.kill('SIGKILL');
  await desk.close();
});

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' } as const;

function start(env: Record<string, string> = {}): ServiceProcess {
  const service = startProcess({ ...environment(desk), ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0', ...env });
  started.push(service);
  return service;
}

describe('the service as a process, with a real issuer', () => {
  let issuer: Issuer;
  const tenantId = randomName('tenant');
  const client: DevelopmentClient = {
    ...{ clientId: 'acme', clientSecret: 'acme-secret', tenantId },
    scopes: ['webhook.read', 'webhook.write'],
  };

  beforeAll(async () => {
    issuer = await startIssuer({ audience: AUDIENCE, clients: [client] });
  });
  afterAll(() => issuer.stop());

  it('serves an integrator from registration to removal of the secret', async () => {
    const service = start({ TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URI: issuer.jwksUri });
    const sdk = createClient({
      baseUrl: await service.url(),
      credentials: { tokenEndpoint: issuer.tokenEndpoint, ...client },
    });
    const webhook = await sdk.register(HOOK);
    expect(await sdk.update({ ...HOOK, enabled: false })).toMatchObject({ ref: webhook.ref, enabled: false });
    expect(await sdk.list({ enabled: false })).toMatchObject({ results: 1 });
    expect(await sdk.get(webhook.ref)).toMatchObject({ enabled: false });
    expect((await sdk.rotateSecret(webhook.ref)).secret).toMatch(/^whsec_/);
    await sdk.removeSecret(webhook.ref);
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });
});

describe('when it is told to stop', () => {
  it('finishes the request in flight, takes no new one, and ends with 0', async () => {
    const service = start();
    const url = await service.url();
    const body = JSON.stringify(HOOK);
    const call = await beginPost(url, await desk.tokenOf(randomName('tenant')), body.length);
    call.request.write(body.slice(0, 10));
    await eventually(() => call.request.socket?.writableLength === 0);
    service.kill('SIGTERM');
    await service.line('stopping');
    await eventually(async () => {
      await expect(fetch(url)).rejects.toThrow();
    });
    call.request.end(body.slice(10));
    expect(await call.answer).toEqual({ status: 200, connection: 'close' });
    expect(await service.exited).toBe(0);
  });
});

describe('when it is killed between the write and the publication', () => {
  it('loses nothing: the next instance publishes, and a repeat of the request gets the same webhook', async () => {
    const uri = testMongoUri(randomName('config_api'));
    const tenantId = randomName('tenant');
    const doomed = start({ MONGODB_URI: uri, KAFKA_BROKERS: `127.0.0.1:${await freePort()}` });
    const authorization = `Bearer ${await desk.tokenOf(tenantId)}`;
    const lost = createCaller(await doomed.url(), tenantId, authorization).post(HOOK);
    const failed = expect(lost).rejects.toThrow();
    const database = await createConnection(uri).asPromise();
    const ref = await eventually(
      async () => {
        const row = await database.collection<{ ref: string }>('configurations').findOne({ tenantId });
        return row?.ref ?? false;
      },
      { message: 'the row is written' },
    );
    doomed.kill('SIGKILL');
    await failed;
    await database.close();
    const topic = openConfigurationTopic();
    const next = start({ MONGODB_URI: uri });
    expect(await topic.recordOf(tenantId, ref, 1)).toMatchObject(HOOK);
    const repeat = await createCaller(await next.url(), tenantId, authorization).post(HOOK);
    expect(repeat.body['ref']).toBe(ref);
    await topic.close();
  });
});

describe('a wrong environment', () => {
  it('is reported as a whole, with exit code 2', async () => {
    const service = startProcess({ PORT: 'x', MONGODB_URI: 'http://x', ALLOW_LOCALHOST_ENDPOINTS: 'yes' });
    expect(await service.exited).toBe(2);
    const faults = [
      'PORT',
      'MONGODB_URI',
      'ALLOW_LOCALHOST',
      'SECRETS_KEYS',
      'KAFKA_BROKERS',
      'TOKEN_ISSUER',
    ];
    for (const name of faults) expect(service.errors()).toContain(name);
  });

  it('is a development switch in production', async () => {
    const service = startProcess({
      ...environment(desk),
      ...{ ALLOW_LOCALHOST_ENDPOINTS: 'true', NODE_ENV: 'production' },
    });
    expect(await service.exited).toBe(2);
    expect(service.errors()).toContain('ALLOW_LOCALHOST_ENDPOINTS');
  });
});

interface BegunPost {
  readonly request: ClientRequest;
  readonly answer: Promise<{ readonly status: number | undefined; readonly connection: string | undefined }>;
}

/** A POST whose headers are sent and whose body is not. */
function beginPost(url: string, token: string, length: number): Promise<BegunPost> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': length,
    };
    const post = request(`${url}${WEBHOOKS}`, { method: 'POST', headers });
    const answer = new Promise<Awaited<BegunPost['answer']>>((done) => {
      post.once('response', (response) => {
        response.resume();
        done({ status: response.statusCode, connection: response.headers.connection });
      });
    });
    post.once('error', reject);
    post.once('socket', (socket) => {
      socket.once('connect', () => resolve({ request: post, answer }));
    });
    post.flushHeaders();
  });
}
