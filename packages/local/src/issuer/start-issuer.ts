import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import { writeWhole } from '../engine/folders.js';
import { errorText } from '../engine/command.js';
import { freePort } from '../engine/free-port.js';
import { configurationFor } from './issuer-configuration.js';
import type { IssuerOptions } from './issuer-configuration.js';
import { serveSignIn } from './sign-in.js';

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

/**
 * Starts a token issuer for development: OAuth 2.0 client credentials, and the code grant for people (OpenID Connect). JWT access tokens of
 * RFC 9068 (RS256, `typ at+jwt`) with the claim `tenant_id`. A client that requests no scope gets all of its scopes. Plain HTTP, at 127.0.0.1 by default.
 */
export async function startIssuer(options: IssuerOptions) {
  const log = options.log ?? (() => undefined);
  // Loaded on demand: most users of this package never start an issuer.
  const { default: Provider } = await import('oidc-provider');
  const port = await freePort(options.port);
  const issuer = options.issuer ?? `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, configurationFor(options, await loadSigningKey(options.keysFile)));
  provider.on('server_error', (_context, error) => log(`token issuer: ${error.message}`));
  const callback = provider.callback();
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!(await serveSignIn(provider, options.people ?? [], request, response)))
      await callback(request, response);
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      log(`token issuer: ${errorText(error)}`);
      // Such as a sign-in page that was left open for too long.
      if (!response.headersSent) response.writeHead(400).end('Begin the sign-in again.');
    });
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
