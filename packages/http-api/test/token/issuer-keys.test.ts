import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TokenDesk, eventually } from '@webhooks/testkit';
import { checkIssuer } from '../../src/index.js';
import { openVerifier, verdictOf } from '../support/verdict.js';

let desk: TokenDesk;
beforeEach(async () => {
  desk = await TokenDesk.open();
  desk.metadata.clear();
});
afterEach(() => desk.close());

const OPENID = '/.well-known/openid-configuration';
const OAUTH = '/.well-known/oauth-authorization-server';

const document = (issuer: string) => ({ issuer, jwks_uri: desk.jwksUri });
const base = (): string => desk.issuer.slice(0, -1);

describe('discovery', () => {
  it.each([
    ['OpenID Connect', `/realms/bank${OPENID}`],
    ['RFC 8414, inserted before the path', `${OAUTH}/realms/bank`],
    ['RFC 8414, appended to the path', `/realms/bank${OAUTH}`],
  ])('finds the keys by %s, with and without a trailing slash', async (_form, path) => {
    const issuer = `${base()}/realms/bank`;
    for (const [configured, named] of [
      [issuer, issuer],
      [`${issuer}/`, issuer],
      [issuer, `${issuer}/`],
    ] as const) {
      desk.metadata.set(path, document(named));
      expect(await checkIssuer({ issuer: configured })).toBe(`issuer ${named}: 1 key by discovery`);
      const verifier = openVerifier(desk, { issuer: configured, jwksUri: undefined });
      const token = await desk.token({ claims: { iss: named } });
      expect(await verdictOf(verifier, `Bearer ${token}`)).toBe('ok');
      const other = await desk.token({ claims: { iss: named === issuer ? `${issuer}/` : issuer } });
      expect(await verdictOf(verifier, `Bearer ${other}`)).toBe('invalid-token');
      verifier.close();
    }
  });

  it('finds keys that have moved, and keeps the last good ones while it fails', async () => {
    desk.metadata.set(OPENID, { issuer: base(), jwks_uri: `${desk.issuer}nowhere/.well-known/` });
    const failures: unknown[] = [];
    const onRefreshFailed = (error: unknown): void => void failures.push(error);
    const verifier = openVerifier(desk, { jwksUri: undefined, refreshMs: 20, onRefreshFailed });
    await eventually(() => failures.length > 0);
    desk.metadata.set(OPENID, document(base()));
    await eventually(() => verifier.isReady());
    desk.metadata.clear();
    const before = failures.length;
    await eventually(() => failures.length > before + 1);
    const token = await desk.token({ claims: { iss: base() } });
    expect(await verdictOf(verifier, `Bearer ${token}`)).toBe('ok');
    verifier.close();
  });
});

describe('a check of the issuer', () => {
  it('says where the keys are that TOKEN_JWKS_URI names', async () => {
    desk.response = [desk.key.publicJwk, { ...desk.key.publicJwk, kid: 'k2' }];
    expect(await checkIssuer({ issuer: 'https://id.acme.com.br', jwksUri: desk.jwksUri })).toBe(
      `issuer https://id.acme.com.br: 2 keys at ${desk.jwksUri}`,
    );
  });

  it('names another issuer in the metadata', async () => {
    desk.metadata.set(OPENID, document('https://evil.example/'));
    await expect(checkIssuer({ issuer: base() })).rejects.toThrow(
      `${base()}${OPENID} names the issuer 'https://evil.example/': check TOKEN_ISSUER, now ${base()}`,
    );
  });

  it('names the address at which there is no metadata', async () => {
    await expect(checkIssuer({ issuer: `${base()}/realms/typo` })).rejects.toThrow(
      `no JSON document at ${base()}/realms/typo${OPENID}: status 404: check TOKEN_ISSUER, or set TOKEN_JWKS_URI`,
    );
  });

  it('names metadata without the address of the keys', async () => {
    for (const jwks of [undefined, 7, 'keys']) {
      desk.metadata.set(OPENID, { issuer: base(), jwks_uri: jwks });
      await expect(checkIssuer({ issuer: base() })).rejects.toThrow(
        'has no https address as jwks_uri: set TOKEN_JWKS_URI',
      );
    }
  });

  it.each([
    ['a key set without keys', []],
    ['no key set', 200],
    ['a status', 503],
  ])('names %s', async (_what, response) => {
    desk.metadata.set(OPENID, document(base()));
    desk.response = response;
    await expect(checkIssuer({ issuer: base() })).rejects.toThrow(
      Array.isArray(response)
        ? `the issuer has no key at ${desk.jwksUri}`
        : `no JSON document at ${desk.jwksUri}`,
    );
  });

  it('names an issuer that refuses connections', async () => {
    const { issuer } = desk;
    await desk.close();
    await expect(checkIssuer({ issuer })).rejects.toThrow(/ECONNREFUSED: check TOKEN_ISSUER/);
    desk = await TokenDesk.open();
  });
});

describe('an issuer of another kind', () => {
  let server: Server;
  const listen = async (handler: Parameters<typeof createServer>[1]): Promise<string> => {
    server = createServer(handler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it('that never responds is named within 5 s', async () => {
    const issuer = await listen(() => undefined);
    const begin = performance.now();
    await expect(checkIssuer({ issuer })).rejects.toThrow(
      /: The operation was aborted due to timeout: check TOKEN_ISSUER/,
    );
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  it('that sends without end is cut at 256 KiB', async () => {
    let sent = 0;
    const issuer = await listen((_request, response) => {
      const send = (): void => {
        while (response.writable && response.write('['.repeat(65_536))) sent += 65_536;
      };
      response.on('drain', send);
      send();
    });
    await expect(checkIssuer({ issuer })).rejects.toThrow('expected at most 262144 bytes');
    // Buffers of three connections lie between.
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  it('that redirects is not followed', async () => {
    const issuer = await listen((_request, response) =>
      response.writeHead(302, { location: desk.jwksUri }).end(),
    );
    await expect(checkIssuer({ issuer })).rejects.toThrow('status 302');
    expect(desk.requests).toBe(0);
  });
});
