import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import type { JWK, JWTPayload } from 'jose';

/** Value of the claim `aud`. */
export const AUDIENCE = 'urn:test:webhooks';

/** Generates a key pair for the algorithm `alg`, such as `ES256`. */
export async function makeSigningKey(kid: string, alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return { kid, alg, privateKey, publicJwk };
}
export type SigningKey = Awaited<ReturnType<typeof makeSigningKey>>;

/** Changes to a valid token: members of header and claims to set (undefined: to remove), and another key to sign with. */
export interface TokenChange {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: SigningKey;
}

/** A token issuer whose key set, and the responses for it, can be changed. */
export class TokenDesk {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Number of requests to this server, at any path. */
  requests = 0;
  /** The response to each other request: a key set, or a status code with a body that is no JSON. */
  response: readonly JWK[] | number;
  /** Metadata documents by path; other paths with `/.well-known/` are 404. Default: OpenID Connect Discovery. */
  readonly metadata: Map<string, unknown>;
  readonly key: SigningKey;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(key: SigningKey, server: ReturnType<typeof createServer>) {
    this.key = key;
    this.response = [key.publicJwk];
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    this.jwksUri = `${this.issuer}jwks`;
    const document = { issuer: this.issuer, jwks_uri: this.jwksUri };
    this.metadata = new Map([['/.well-known/openid-configuration', document]]);
    server.on('request', ({ url = '' }, response) => {
      this.requests += 1;
      const metadata = this.metadata.get(url);
      if (metadata !== undefined) response.end(JSON.stringify(metadata));
      else if (url.includes('/.well-known/')) response.writeHead(404).end('<html>');
      else if (typeof this.response === 'number') response.writeHead(this.response).end('<html>');
      else
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: this.response }));
    });
  }

  static async open(alg = 'ES256'): Promise<TokenDesk> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new TokenDesk(await makeSigningKey('k1', alg), server);
  }

  /** Settings for a service that trusts these tokens. */
  get settings() {
    return { TOKEN_ISSUER: this.issuer, TOKEN_JWKS_URI: this.jwksUri, TOKEN_AUDIENCE: AUDIENCE };
  }

  /** Claims of RFC 9068, valid for ten minutes. */
  claims(): JWTPayload {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: this.issuer,
      aud: AUDIENCE,
      sub: 'client-1',
      client_id: 'client-1',
      jti: 'token-1',
      iat: now,
      exp: now + 600,
      scope: 'thing.read thing.write',
      tenant_id: 'acme',
    };
  }

  /** Signs a token that is valid except for the given changes. */
  token({ header, claims, key = this.key }: TokenChange = {}): Promise<string> {
    const payload: Record<string, unknown> = { ...this.claims(), ...claims };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
      .sign(key.privateKey);
  }

  /** Signs a token of this tenant. Default scopes: reading and writing webhooks. */
  tokenOf(
    tenantId: string,
    scope = 'webhook.read webhook.write',
    claims: TokenChange['claims'] = {},
  ): Promise<string> {
    const client = `client of ${tenantId}`;
    return this.token({ claims: { client_id: client, sub: client, tenant_id: tenantId, scope, ...claims } });
  }

  /** Call it once. */
  close(): Promise<void> {
    const closed = this.#server[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    return closed;
  }
}
