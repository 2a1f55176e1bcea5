import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { causeOf } from '@webhooks/contracts';
import { eventually, openStrangeAuthority, sharedAuthority, startEndpoint } from '@webhooks/testkit';
import type { Endpoint, EndpointOptions, Script } from '@webhooks/testkit';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';
import type { Answer, Caller } from '../support/caller.js';

const closing: (() => Promise<unknown>)[] = [];

beforeAll(makeTopics);
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startProving(proof: string, env: Readonly<Record<string, string>> = {}) {
  const { caFile: ENDPOINT_CA_FILE } = await sharedAuthority();
  const trusting = { ALLOW_LOCALHOST_ENDPOINTS: 'true', ENDPOINT_CA_FILE };
  const service = await startConfigApi({ ...trusting, REGISTRATION_PROOF: proof, ...env });
  return service;
}

async function open(reply: Script, options: EndpointOptions = {}): Promise<Endpoint> {
  const endpoint = await startEndpoint({ reply, ...options });
  closing.push(() => endpoint.close());
  return endpoint;
}

const echo: Script = ({ headers }) => ({
  kind: 'status',
  status: 204,
  headers: { 'Webhook-Challenge': headers['webhook-challenge'] ?? '' },
});

const webhook = (endpointUrl: string) => ({ eventType: 'PIX_STATIC', endpointUrl });

/** Refused for this reason, and nothing is registered. */
async function expectFailed(tenant: Caller, { status, body }: Answer, reason: string): Promise<void> {
  expect({ status, code: body['code'] }).toEqual({ status: 422, code: 'proof-failed' });
  expect(body['violations']).toEqual([{ property: 'endpointUrl', reason: `failed its proof: ${reason}` }]);
  expect((await tenant.list()).body['results']).toBe(0);
}

describe('with REGISTRATION_PROOF=challenge', () => {
  let service: RunningConfigApi;
  beforeAll(async () => {
    service = await startProving('challenge');
  });
  afterAll(() => service.stop());

  it('an endpoint that responds with the challenge of a test notification is registered', async () => {
    const [tenant, endpoint] = [await service.tenant(), await open(echo)];
    expect((await tenant.post(webhook(endpoint.url))).status).toBe(200);
    const [arrival] = endpoint.arrivals;
    const body = JSON.parse(String(arrival?.body)) as Record<string, unknown>;
    expect(body).toMatchObject({ id: arrival?.id, eventType: 'PIX_STATIC', data: { amount: '0.01' } });
    expect(arrival?.id).toMatch(/^evt_test_/);
    expect(arrival?.headers).toMatchObject({ 'webhook-attempt': '1', 'user-agent': 'webhooks/1' });
  });

  it('an alert endpoint gets a test alert, and is registered only with the challenge', async () => {
    const [tenant, good, bad] = [await service.tenant(), await open(echo), await open(200)];
    expect((await tenant.postAlert({ endpointUrl: good.url })).status).toBe(200);
    expect(JSON.parse(String(good.arrivals[0]?.body))).toMatchObject({ type: 'endpoint.test', data: {} });
    expect((await tenant.postAlert({ endpointUrl: bad.url })).body['code']).toBe('proof-failed');
    expect((await tenant.listAlerts()).body['results']).toBe(1);
  });

  const copy = 'the response has another Webhook-Challenge, or none: copy the header from the request.';
  const location = { location: 'https://elsewhere.psp.com.br/' };
  it.each<[string, Script, string]>([
    ['without it', 200, copy],
    ['with another', { kind: 'status', status: 200, headers: { 'Webhook-Challenge': 'x' } }, copy],
    [
      'with a redirect',
      { kind: 'status', status: 307, headers: location },
      `status 307. ${causeOf({ status: 307 })}`,
    ],
    ['with a refusal', 401, `status 401. ${causeOf({ status: 401 })}`],
    [
      'with no HTTP',
      { kind: 'raw', bytes: 'SSH-2.0-x\r\n\r\n' },
      `PROTOCOL NOT_HTTP. ${causeOf({ error: 'PROTOCOL' })}`,
    ],
  ])('an endpoint that responds %s is refused with the cause', async (_, answer, reason) => {
    const [tenant, endpoint] = [await service.tenant(), await open(answer)];
    await expectFailed(tenant, await tenant.post(webhook(endpoint.url)), reason);
    expect(endpoint.arrivals).toHaveLength(1);
  });

  it('an endpoint that does not respond is refused within 5 s, delays no other write, and allows no second proof', async () => {
    const [tenant, silent, good] = [await service.tenant(), await open({ kind: 'hang' }), await open(echo)];
    const { body } = await tenant.post({ ...webhook(good.url), applicationId: 'a' });
    const startedAt = performance.now();
    const proving = tenant.post(webhook(silent.url));
    await eventually(() => silent.arrivals.length === 1);
    const second = await tenant.post(webhook(good.url));
    expect({ status: second.status, retryAfter: second.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '1',
    });
    const disabled = await tenant.put({ ...webhook(good.url), ref: body['ref'], enabled: false });
    expect(disabled.status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    const { body: failed } = await proving;
    expect(failed['detail']).toContain('TIMEOUT DEADLINE');
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('an endpoint that does not connect in time is refused for that', async () => {
    const [tenant, endpoint] = [await service.tenant(), await open(echo, { connection: 'hang' })];
    const { body } = await tenant.post(webhook(endpoint.url));
    expect(body['detail']).toContain('CONNECT_TIMEOUT. No connection or handshake in time');
  });

  it('a notification has the headers and the format of the delivery policy', async () => {
    const [tenant, endpoint] = [await service.tenant(), await open(echo)];
    const { body } = await tenant.post({ ...webhook(endpoint.url), enabled: false });
    const named = { ...webhook(endpoint.url), ref: body['ref'] };
    await tenant.putPolicy(String(body['ref']), {
      format: 'bacen',
      headers: { 'X-Key': 'k' },
    });
    expect((await tenant.put({ ...named, enabled: true })).status).toBe(200);
    const [arrival] = endpoint.arrivals;
    expect(arrival?.headers).toMatchObject({ 'x-key': 'k', 'user-agent': 'webhooks/1' });
    expect(JSON.parse(String(arrival?.body))).toMatchObject({ pix: [{ valor: '0.01' }] });
  });

  it('an endpoint whose certificate is of another authority is refused with the code of TLS', async () => {
    const strange = await (await openStrangeAuthority()).issue(['localhost', '127.0.0.1', '::1']);
    const [tenant, endpoint] = [await service.tenant(), await open(echo, strange)];
    const { body } = await tenant.post(webhook(endpoint.url));
    expect(body['detail']).toMatch(/^endpointUrl failed its proof: TLS [A-Z_]+\. The (chain|certificate) is/);
    expect(endpoint.arrivals).toHaveLength(0);
  });

  it('an endpoint that breaks the connection is refused', async () => {
    const tenant = await service.tenant();
    const endpoint = await open({ kind: 'cut', stage: 'before-response' });
    const { status, body } = await tenant.post(webhook(endpoint.url));
    expect(status).toBe(422);
    expect(body['detail']).toContain('SOCKET ECONNRESET');
  });

  it('only a change that enables a webhook with a URL needs a proof', async () => {
    const [tenant, endpoint, other] = [await service.tenant(), await open(echo), await open(200)];
    const { body } = await tenant.post(webhook(endpoint.url));
    const named = { ...webhook(endpoint.url), ref: body['ref'] };
    for (const call of [
      () => tenant.post(webhook(endpoint.url)),
      () => tenant.rotate(String(body['ref'])),
      () => tenant.put({ ...named, eventType: 'PIX_OUT' }),
      () => tenant.put({ ...named, enabled: false }),
      () => tenant.put({ ...named, endpointUrl: other.url }),
      () => tenant.post({ ...webhook(other.url), applicationId: 'a', enabled: false }),
    ])
      expect((await call()).status).toBe(200);
    expect([endpoint.arrivals.length, other.arrivals.length]).toEqual([1, 0]);
    const enabling = await tenant.put({ ...named, endpointUrl: other.url, enabled: true });
    expect(enabling.body['code']).toBe('proof-failed');
    expect((await tenant.get(String(body['ref']))).body).toMatchObject({ enabled: false });
    expect((await tenant.put({ ...named, enabled: true })).status).toBe(200);
    expect((await tenant.put({ ...named, endpointUrl: other.url })).body['code']).toBe('proof-failed');
    expect((await tenant.get(String(body['ref']))).body).toMatchObject({ endpointUrl: endpoint.url });
    expect([endpoint.arrivals.length, other.arrivals.length]).toEqual([2, 2]);
  });
});

it('proofs take at most half of the open requests', async () => {
  const service = await startProving('challenge', { MAX_OPEN_REQUESTS: '4' });
  closing.push(() => service.stop());
  const silent = await open({ kind: 'hang' });
  const prove = async () => (await service.tenant()).post(webhook(silent.url));
  const proving = [prove(), prove()];
  await eventually(() => silent.arrivals.length === 2);
  expect((await prove()).status).toBe(429);
  expect((await (await service.tenant()).list()).status).toBe(200);
  for (const { status } of await Promise.all(proving)) expect(status).toBe(422);
});

it('an endpoint at an address that is denied is refused, and nothing is sent', async () => {
  const service = await startProving('challenge', { ENDPOINT_DENIED_CIDRS: '127.0.0.0/8,::1' });
  closing.push(() => service.stop());
  const [tenant, endpoint] = [await service.tenant(), await open(echo)];
  const reason = `ADDRESS_DENIED. ${causeOf({ error: 'ADDRESS_DENIED' })}`;
  await expectFailed(tenant, await tenant.post(webhook(endpoint.url)), reason);
  expect(endpoint.stats().connections).toBe(0);
});

describe('with REGISTRATION_PROOF=mtls', () => {
  let service: RunningConfigApi;
  beforeAll(async () => {
    const { certFile, keyFile } = await (await sharedAuthority()).issue(['deliveries']);
    const pair = { CLIENT_CERTIFICATE_FILE: certFile, CLIENT_KEY_FILE: keyFile };
    service = await startProving('mtls', pair);
  });
  afterAll(() => service.stop());

  const demanding = (ca: string, tls: TlsOptions = {}): EndpointOptions => ({
    tls: { ca, requestCert: true, rejectUnauthorized: true, ...tls },
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'an endpoint that demands our client certificate by %s is registered',
    async (maxVersion) => {
      const { caPem } = await sharedAuthority();
      const [tenant, endpoint] = [await service.tenant(), await open(200, demanding(caPem, { maxVersion }))];
      expect(await tenant.post(webhook(endpoint.url))).toMatchObject({ status: 200 });
      expect(endpoint.arrivals).toHaveLength(1);
    },
  );

  it('the certificate of the operator is watched', async () => {
    expect(await service.metrics()).toMatch(/^webhook_client_certificate_refused 0$/m);
  });

  it('an endpoint with a certificate of its own in the delivery policy gets that one', async () => {
    const strange = await openStrangeAuthority();
    const { certPem: certificate, keyPem: key } = await strange.issue(['acme']);
    const [tenant, endpoint] = [await service.tenant(), await open(200, demanding(strange.caPem))];
    const { body } = await tenant.post({ ...webhook(endpoint.url), enabled: false });
    await tenant.putPolicy(String(body['ref']), { clientCertificate: { certificate, key } });
    const enabling = { ...webhook(endpoint.url), ref: body['ref'], enabled: true };
    expect(await tenant.put(enabling)).toMatchObject({ status: 200 });
    expect(endpoint.arrivals).toHaveLength(1);
  });

  it.each([
    [400, 200],
    [429, 422],
  ])('an endpoint that refuses others by status %d gets %d', async (refusal, registered) => {
    const authority = await sharedAuthority();
    const { certPem: cert, keyPem: key } = await authority.issue(['localhost', '127.0.0.1', '::1']);
    const demand = { cert, key, ca: authority.caPem, requestCert: true, rejectUnauthorized: false };
    const server = createServer(demand, ({ socket }, response) => {
      response.writeHead((socket as TLSSocket).authorized ? 200 : refusal).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    expect((await (await service.tenant()).post(webhook(url))).status).toBe(registered);
  });

  it('an endpoint that demands none is refused', async () => {
    const [tenant, endpoint] = [await service.tenant(), await open(200)];
    const reason = 'it accepts a request without our client certificate: demand one.';
    await expectFailed(tenant, await tenant.post(webhook(endpoint.url)), reason);
  });

  it('an endpoint that refuses ours is refused with the cause', async () => {
    const { caPem } = await openStrangeAuthority();
    const [tenant, endpoint] = [await service.tenant(), await open(200, demanding(caPem))];
    const { status, body } = await tenant.post(webhook(endpoint.url));
    expect(status).toBe(422);
    expect(body['detail']).toMatch(/^endpointUrl failed its proof: [A-Z]+ [A-Z_]+\. /);
  });

  it('an endpoint that does not respond without our certificate has refused nothing', async () => {
    let count = 0;
    const [tenant, endpoint] = [
      await service.tenant(),
      await open(() => ((count += 1) > 1 ? { kind: 'hang' } : 200)),
    ];
    const { body } = await tenant.post(webhook(endpoint.url));
    expect(body['detail']).toMatch(/TIMEOUT DEADLINE/);
  });
});
