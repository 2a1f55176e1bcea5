import { SettingsReader } from '@webhooks/runtime';
import { readApiSettings } from '../../src/index.js';

function read(env: Record<string, string>) {
  const settings = new SettingsReader(env);
  const api = readApiSettings(settings, { port: 1, maxOpenRequests: 8, tenantRequestsPerSecond: 0 });
  return { api, faults: settings.faults };
}

const ISSUER = { TOKEN_ISSUER: 'https://issuer.psp.com.br/', TOKEN_AUDIENCE: 'urn:webhooks' };

it.each([undefined, 'issuer.psp.com.br'])(
  'an issuer that is %s is one fault: its keys follow from it',
  (issuer) => {
    const { faults } = read({ ...ISSUER, TOKEN_ISSUER: issuer ?? '' });
    expect(faults).toEqual([expect.stringMatching(/^TOKEN_ISSUER /)]);
  },
);

it('keeps idle connections and serves on at the end as long as the operator sets', () => {
  expect(read(ISSUER)).toMatchObject({
    api: { jwksUri: undefined, keepAliveMs: 65_000, shutdownDelayMs: 10_000 },
    faults: [],
  });
  const { api } = read({ ...ISSUER, KEEP_ALIVE_MS: '620000', SHUTDOWN_DELAY_MS: '0' });
  expect(api).toMatchObject({ keepAliveMs: 620_000, shutdownDelayMs: 0 });
});

it('reports faults of the token settings by name, without their values', () => {
  const { faults } = read({
    ...ISSUER,
    ...{
      TOKEN_PROFILE: 'constructor',
      TOKEN_SCOPE_BY_ROLE: 'admin',
      TENANT_BY_CLIENT_FILE: import.meta.filename,
    },
  });
  expect(faults).toEqual([
    'TOKEN_PROFILE: expected one of rfc9068, keycloak, auth0, entra, cognito, okta',
    'TOKEN_SCOPE_BY_ROLE: expected entries such as admin=webhook.read webhook.write, separated by commas',
    'TENANT_BY_CLIENT_FILE: expected a JSON object of client ids and tenants',
  ]);
});
