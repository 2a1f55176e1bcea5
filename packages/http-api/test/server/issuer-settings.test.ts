import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TokenDesk, eventually } from '@webhooks/testkit';
import type { ApiRequest, Operation } from '../../src/index.js';
import { openServedApi } from '../support/served-api.js';
import type { ServedApi } from '../support/served-api.js';
import { VENDOR_TOKENS } from '../support/vendor-tokens.js';

const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/things', scopes: ['thing.read'] },
    handle: ({ identity: { clientId, personId, tenantId } }: ApiRequest) =>
      Promise.resolve({ status: 200, body: { clientId, personId, tenantId } }),
  },
];

const README = join(import.meta.dirname, '..', '..', '..', '..', 'deploy', 'README.md');
const ROWS = readFileSync(README, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** What the table of wrong settings says about one: its first message, in which `…` is any text. */
function documented(setting: string): RegExp {
  const [, , , says = ''] = ROWS.find(([, name, where]) => name === setting && /log/.test(where ?? '')) ?? [];
  const [, message = setting] = /^`([^`]+)`/.exec(says) ?? [];
  return new RegExp(
    message
      .split('…')
      .map((text) => text.replaceAll(/[^\w ]/g, String.raw`\$&`))
      .join('.*'),
  );
}

const dir = mkdtempSync(join(tmpdir(), 'issuer-'));
const tenants = join(dir, 'tenants.json');
writeFileSync(tenants, '{ "client-1": "globex" }');

let desk: TokenDesk;
let api: ServedApi | undefined;
beforeEach(async () => {
  desk = await TokenDesk.open();
});
afterEach(async () => {
  await api?.close();
  await desk.close();
});
afterAll(() => rmSync(dir, { recursive: true }));

async function open(env: Readonly<Record<string, string>> = {}): Promise<ServedApi> {
  api = await openServedApi(desk, OPERATIONS, env);
  return api;
}

async function get({ url }: ServedApi, token: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${url}/things`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const adviceOn = (lines: ServedApi['lines'], fault: string): unknown =>
  lines.find(({ fields }) => String(fields['fault']).endsWith(fault))?.fields['advice'];

describe('the readiness of an API', () => {
  it.each([
    [
      'an issuer that is another one',
      'https://other.acme.com.br/',
      undefined,
      documented('`TOKEN_ISSUER`: another name of the issuer'),
    ],
    ['an issuer without metadata', undefined, undefined, documented('`TOKEN_ISSUER`: a typo')],
    ['an issuer without keys', 'own', [], documented('an issuer without keys')],
    ['an issuer whose keys fail', 'own', 503, /no JSON document at .*jwks: status 503/],
  ])(
    'names %s within 5 s, and so does one log line, until it is mended',
    async (_what, named, keys, fault) => {
      const path = '/.well-known/openid-configuration';
      const good = desk.metadata.get(path);
      const key = desk.response;
      desk.metadata.clear();
      if (named !== undefined)
        desk.metadata.set(path, named === 'own' ? good : { issuer: named, jwks_uri: desk.jwksUri });
      if (keys !== undefined) desk.response = keys;
      const served = await open();
      await eventually(() => expect(served.ready().faults['token keys']).toMatch(fault), {
        timeoutMs: 5_000,
      });
      const said = served.lines.filter(({ message }) => message.startsWith('the keys of the token issuer'));
      expect(said.map(({ fields }) => fields['error'])).toEqual([expect.stringMatching(fault)]);
      desk.metadata.set(path, good);
      desk.response = key;
      await eventually(() => served.ready().ok);
    },
  );
});

describe('the log of refused tokens', () => {
  it.each([
    ['audience', { aud: 'account' }, documented('`TOKEN_AUDIENCE`')],
    ['issuer', { iss: 'https://other/' }, /^iss is 'https:\/\/other\/', not http.*: check TOKEN_ISSUER$/],
    ['missing claim', { jti: undefined }, 'expected exp, iat, iss, client_id, sub, jti: check TOKEN_PROFILE'],
  ])('names the setting to check for another %s, with the client', async (_what, claims, advice) => {
    const served = await open();
    expect((await get(served, await desk.token({ claims }))).status).toBe(401);
    const [line] = served.lines.filter(({ message }) => message === 'access tokens are refused');
    expect(line?.fields).toMatchObject({ requests: 1, latestClientId: 'client-1' });
    expect(line?.fields['advice']).toEqual(
      typeof advice === 'string' ? advice : expect.stringMatching(advice),
    );
  });

  it('names a type, and by how many seconds a clock is off', async () => {
    const served = await open();
    const now = Math.floor(Date.now() / 1_000);
    for (const change of [
      { header: { typ: 'JWT' } },
      { claims: { nbf: now + 180 } },
      { claims: { exp: now - 120, iat: now - 720 } },
    ])
      expect((await get(served, await desk.token(change))).status).toBe(401);
    expect(adviceOn(served.lines, 'its type is not allowed')).toMatch(documented('`TOKEN_PROFILE`'));
    expect(adviceOn(served.lines, 'it is not valid yet')).toMatch(documented("this machine's clock"));
    expect(adviceOn(served.lines, 'it is not valid yet')).toMatch(
      /^tokens are not yet valid by 1(7\d|80) s: check this machine's clock$/,
    );
    expect(adviceOn(served.lines, 'it has expired')).toMatch(
      /^it expired 12\d s ago: .*this machine's clock$/,
    );
  });
});

describe('the tenant of a token', () => {
  it('is that of its client by TENANT_BY_CLIENT_FILE when the issuer names none', async () => {
    const env = { TENANT_BY_CLIENT_FILE: tenants, TOKEN_PROFILE: 'entra' };
    const served = await open(env);
    const { client = {} } = VENDOR_TOKENS['entra'] ?? {};
    const without = { ...client, claims: { ...client.claims, tenant_id: undefined } };
    expect(await get(served, await desk.token(without))).toMatchObject({
      status: 200,
      body: { tenantId: 'globex' },
    });
    expect((await get(served, await desk.token(without), { tenantid: 'acme' })).status).toBe(403);
    // The issuer's word comes first.
    expect((await get(served, await desk.token(client))).body).toMatchObject({ tenantId: 'acme' });
    const other = { ...without, claims: { ...without.claims, azp: 'client-2' } };
    expect((await get(served, await desk.token(other))).status).toBe(403);
  });

  it('is any that the header names with the scope tenant.any, and each such call is logged', async () => {
    const served = await open();
    const operator = await desk.token({ claims: { scope: 'thing.read tenant.any', sub: 'ana' } });
    expect(await get(served, operator, { tenantid: 'globex', 'x-request-id': 'r1' })).toEqual({
      status: 200,
      body: { clientId: 'client-1', personId: 'ana', tenantId: 'globex' },
    });
    const said = (): unknown[] =>
      served.lines
        .filter(({ message }) => message === 'an operator acts for a tenant')
        .map(({ fields }) => fields);
    expect(said()).toEqual([
      {
        operation: 'GET /things',
        requestId: 'r1',
        clientId: 'client-1',
        personId: 'ana',
        tenantId: 'globex',
      },
    ]);
    // Not even for the tenant of the token.
    const none = await get(served, operator);
    expect(none).toMatchObject({ status: 403, body: { code: 'forbidden-tenant' } });
    expect(none.body['detail']).toBe('with the scope tenant.any the header tenantid names the tenant');
    expect((await get(served, operator, { tenantid: 'a/b' })).status).toBe(403);
    expect(said()).toHaveLength(1);
  });

  it('is that of the token without that scope, and tenant.any alone allows nothing', async () => {
    const served = await open();
    const own = await desk.token({ claims: { scope: 'thing.read xtenant.any' } });
    expect((await get(served, own, { tenantid: 'globex' })).status).toBe(403);
    const alone = await desk.token({ claims: { scope: 'tenant.any' } });
    expect(await get(served, alone, { tenantid: 'globex' })).toMatchObject({
      status: 403,
      body: { code: 'insufficient-scope' },
    });
    expect(served.lines.filter(({ message }) => message === 'an operator acts for a tenant')).toEqual([]);
  });
});
