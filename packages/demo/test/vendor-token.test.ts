import { buildEvent, eventually, startEndpoint, TokenDesk } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

let desk: TokenDesk;
let running: TestStack;
let endpoint: Endpoint;

beforeAll(async () => {
  desk = await TokenDesk.open('RS256');
  const env = {
    TOKEN_ISSUER: desk.issuer,
    TOKEN_AUDIENCE: desk.settings.TOKEN_AUDIENCE,
    TOKEN_PROFILE: 'keycloak',
  };
  running = await startTestStack({ 'config-api': env, ingest: env });
  const { certPem, keyPem } = await running.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem });
});
afterAll(async () => {
  await endpoint.close();
  await running.stop();
  await desk.close();
});

/** Posts with a token as Keycloak 26.7 gives it for client credentials, with mappers for the audience and the tenant. */
async function post(url: string, scope: string, body: object): Promise<number> {
  const token = await desk.token({
    header: { typ: 'JWT' },
    claims: {
      ...{ aud: ['account', desk.settings.TOKEN_AUDIENCE], sub: '5b8a8a3c-2f6f-4f0e-9a51-3f1d0f8a2f11' },
      ...{ typ: 'Bearer', azp: 'shop-backend', client_id: 'shop-backend', scope: `profile email ${scope}` },
    },
  });
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.status;
}

it('a client of Keycloak registers a webhook and posts an event, which is delivered', async () => {
  const { configApi, ingest } = running.stack.description();
  const webhook = { eventType: 'PIX_OUT', endpointUrl: endpoint.url };
  expect(await post(`${configApi}/integration/v1/webhooks`, 'webhook.write', webhook)).toBe(200);
  const event = buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' });
  // The webhook is in force within a second.
  await eventually(
    async () => {
      expect(await post(`${ingest}/integration/v1/events`, 'event.write', event)).toBe(202);
      return endpoint.arrivals.some(({ id }) => id === event.id);
    },
    { intervalMs: 250 },
  );
  expect(await post(`${ingest}/integration/v1/events`, 'webhook.read', event)).toBe(403);
});
