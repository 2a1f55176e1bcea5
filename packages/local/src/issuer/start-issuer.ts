import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import type { AdapterFactory, Configuration } from 'oidc-provider';
import { writeWhole } from '../engine/folders.js';
import { errorText } from '../engine/command.js';
import { freePort } from '../engine/free-port.js';
import type { Log } from '../engine/wait.js';

/** Returns the RSA key in `keysFile` (a key set, RFC 7517). A missing file is created (mode 0600). Without `keysFile`: a new key. */
async function loadSigningKey(keysFile: string | undefined): Promise<JWK> {
  const stored = keysFile === undefined ? undefined : await readSigningKey(keysFile);
  if (stored) return stored;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' };
  if (keysFile !== undefined) await writeWhole(keysFile, `${JSON.stringify({ keys: [key] })}\n`, 0o600);
  return key;
}

async function readSigningKey(keysFile: string): Promise<JWK | undefined> {
  const text = await readFile(keysFile, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const { keys } = JSON.parse(text) as { keys: JWK[] };
    if (keys[0]?.d !== undefined) return keys[0];
  } catch {
    // reported below
  }
  throw new Error(`${keysFile} does not hold a signing key. Remove it; the next start creates a new one.`);
}

/** A machine that may request tokens. */
export interface DevelopmentClient {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Value of the claim `tenant_id`. */
  readonly tenantId: string;
  readonly scopes: readonly string[];
}

export interface IssuerOptions {
  /** Preferred port. Default, and when it is in use: a free one. */
  readonly port?: number;
  /** Address to listen at; default 127.0.0.1. */
  readonly host?: string;
  /** The claim `iss`: the address at which clients reach this server; default `http://127.0.0.1:<port>`. */
  readonly issuer?: string;
  /** Value of the claim `aud`. */
  readonly audience: string;
  readonly clients: readonly DevelopmentClient[];
  /** File for the signing key, so that tokens stay valid across restarts; created when missing, mode 0600. Default: none. */
  readonly keysFile?: string;
  readonly log?: Log;
}

/** The provider's resource indicator, a URI. Tokens have `audience`, which need not be a URI. */
const RESOURCE = 'urn:webhooks:api';
/** Lifetime of a token. */
const TTL_SECONDS = 600;

/**
 * Starts a token issuer for development: OAuth 2.0 client credentials, JWT access tokens of RFC 9068 (RS256, `typ at+jwt`) with the claim
 * `tenant_id`. A client that requests no scope gets all of its scopes. Plain HTTP, at 127.0.0.1 by default.
 */
export async function startIssuer(options: IssuerOptions) {
  const log = options.log ?? (() => undefined);
  // Loaded on demand: most users of this package never start an issuer.
  const { default: Provider } = await import('oidc-provider');
  const port = await freePort(options.port);
  const issuer = options.issuer ?? `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, configurationFor(options, await loadSigningKey(options.keysFile)));
  provider.on('server_error', (_context, error) => log(`token issuer: ${error.message}`));
  const respond = provider.callback();
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => log(`token issuer: ${errorText(error)}`));
  });
  server.listen(port, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  log(`token issuer: ${issuer}`);
  return {
    /** The claim `iss`; also the base address. */
    issuer,
    tokenEndpoint: `${issuer}/token`,
    jwksUri: `${issuer}/jwks`,
    /** Closes all connections and resolves when the server has stopped. Call it once. */
    stop: async (): Promise<void> => {
      const closed = server[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

const nothing = (): Promise<undefined> => Promise.resolve(undefined);

/** Stores nothing: clients are in the configuration, and JWT access tokens are never stored. */
const statelessAdapter: AdapterFactory = () => ({
  ...{ upsert: nothing, find: nothing, findByUserCode: nothing, findByUid: nothing },
  ...{ consume: nothing, destroy: nothing, revokeByGrantId: nothing },
});

function configurationFor(options: IssuerOptions, key: JWK): Configuration {
  const scopes = [...new Set(options.clients.flatMap((client) => client.scopes))];
  const tenants = new Map(options.clients.map((client) => [client.clientId, client.tenantId]));
  return {
    adapter: statelessAdapter,
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    scopes,
    ttl: { ClientCredentials: TTL_SECONDS },
    clients: options.clients.map((client) => ({
      client_id: client.clientId,
      client_secret: client.clientSecret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      scope: client.scopes.join(' '),
    })),
    extraTokenClaims: (_context, token) => ({ tenant_id: tenants.get(token.clientId ?? '') }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (context, _indicator, client) => {
          const parameters = context.oidc.params;
          if (parameters) parameters['scope'] ??= client.scope;
          return {
            scope: scopes.join(' '),
            audience: options.audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: TTL_SECONDS,
            jwt: { sign: { alg: 'RS256' } },
          };
        },
      },
    },
  };
}
