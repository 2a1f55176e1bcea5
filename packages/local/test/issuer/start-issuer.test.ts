import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { startIssuer, type Issuer } from '../../src/issuer/start-issuer.js';
import type { IssuerOptions } from '../../src/issuer/issuer-configuration.js';
import { scratchFolders } from '../scratch-folder.js';

const AUDIENCE = 'webhooks';
const ACME = {
  clientId: 'acme-app',
  clientSecret: 'acme-secret',
  tenantId: 'acme',
  scopes: ['webhook.read', 'webhook.write'],
};
const GLOBEX = {
  clientId: 'globex-app',
  clientSecret: 'globex secret/+%',
  tenantId: 'globex',
  scopes: ['webhook.read'],
};
const CLIENTS = [ACME, GLOBEX];

describe('the token issuer', () => {
  let issuer: Issuer;
  beforeAll(async () => {
    issuer = await start();
  });
  afterAll(() => issuer.stop());
  const scratch = scratchFolders();

  const start = (options: Partial<IssuerOptions> = {}) =>
    startIssuer({ audience: AUDIENCE, clients: CLIENTS, ...options });

  async function ask(form: Record<string, string>, headers: Record<string, string> = {}, at = issuer) {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...form });
    const response = await fetch(at.tokenEndpoint, { method: 'POST', body, headers });
    const answer = Object.fromEntries(Object.entries((await response.json()) ?? {}));
    return { status: response.status, answer };
  }

  const asGlobex = { client_id: GLOBEX.clientId, client_secret: GLOBEX.clientSecret };
  const asAcme = { client_id: ACME.clientId, client_secret: ACME.clientSecret };

  const verify = (token: unknown, at = issuer) =>
    jwtVerify(String(token), createRemoteJWKSet(new URL(at.jwksUri)), {
      algorithms: ['RS256', 'PS256', 'ES256'],
      issuer: at.issuer,
      audience: AUDIENCE,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
      clockTolerance: 5,
      maxTokenAge: '1h',
    });

  it('gives an RFC 9068 token with the client’s tenant', async () => {
    const { status, answer } = await ask({ ...asAcme, scope: 'webhook.read' });
    expect(status).toBe(200);
    expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'webhook.read' });
    const { payload } = await verify(answer['access_token']);
    expect(payload).toMatchObject({
      tenant_id: 'acme',
      client_id: 'acme-app',
      sub: 'acme-app',
      scope: 'webhook.read',
    });
    const header = decodeProtectedHeader(String(answer['access_token']));
    expect(header).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    expect(typeof header.kid).toBe('string');
  });

  it('grants all scopes of the client when none is requested', async () => {
    const { answer } = await ask(asAcme);
    expect(answer['scope']).toBe('webhook.read webhook.write');
  });

  it('takes the secret in the Authorization header too', async () => {
    const encoded = [GLOBEX.clientId, GLOBEX.clientSecret].map((part) => encodeURIComponent(part));
    const authorization = `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
    const { status, answer } = await ask({}, { authorization });
    expect(status).toBe(200);
    expect((await verify(answer['access_token'])).payload['tenant_id']).toBe('globex');
  });

  it.each([
    ['a wrong secret', { ...asAcme, client_secret: 'wrong' }, 401, 'invalid_client'],
    ['an unknown client', { client_id: 'nobody', client_secret: 'x' }, 401, 'invalid_client'],
    ['a scope of somebody else', { ...asGlobex, scope: 'webhook.write' }, 400, 'invalid_scope'],
    ['another grant', { ...asAcme, grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ])('refuses %s', async (_what, form, status, error) => {
    const refused = await ask(form);
    expect(refused).toMatchObject({ status, answer: { error } });
  });

  it('never gives a client scopes that only another client has', async () => {
    const { answer } = await ask(asGlobex);
    expect(answer['scope']).toBe('webhook.read');
  });

  it('publishes the public key only', async () => {
    const response = await fetch(issuer.jwksUri);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256' }] });
    expect(text).not.toContain('"d":');
  });

  it('keeps its key in a private file, so that tokens survive a restart', async () => {
    const keysFile = join(await scratch(), 'keys.json');
    const first = await start({ keysFile });
    const { answer } = await ask(asAcme, {}, first);
    await first.stop();
    expect((await stat(keysFile)).mode & 0o777).toBe(0o600);

    const second = await start({ keysFile, port: Number(new URL(first.issuer).port) });
    try {
      expect(second.issuer).toBe(first.issuer);
      await expect(verify(answer['access_token'], second)).resolves.toBeDefined();
    } finally {
      await second.stop();
    }
  });

  it('says which file to remove when the kept key is damaged', async () => {
    const keysFile = join(await scratch(), 'keys.json');
    await writeFile(keysFile, '{"keys":[{"kty":"RSA"');
    await expect(start({ keysFile })).rejects.toThrow(/keys\.json does not hold a signing key\. Remove it/);
  });

  it('takes another port when the preferred one is in use', async () => {
    const other = await start({ port: Number(new URL(issuer.issuer).port) });
    expect(other.issuer).not.toBe(issuer.issuer);
    await other.stop();
  });

  it('has the configured name when others reach it by another address', async () => {
    const named = await start({ host: '0.0.0.0', issuer: 'http://issuer:8080' });
    expect(named).toMatchObject({ issuer: 'http://issuer:8080', jwksUri: 'http://issuer:8080/jwks' });
    await named.stop();
  });
});
