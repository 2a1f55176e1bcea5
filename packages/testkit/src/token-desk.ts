import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';

export const AUDIENCE = 'urn:test:webhooks';

/** Signs access tokens for any tenant, and serves the key that verifies them. */
export async function openTokenDesk() {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    jwksUri: `${issuer}/jwks`,
    /** A token of `tenantId` with these scopes (default: read and write). */
    token: (
      tenantId: string,
      scope = 'webhook.read webhook.write',
      claims: Readonly<Record<string, unknown>> = {},
    ) =>
      new SignJWT({ client_id: `client of ${tenantId}`, tenant_id: tenantId, scope, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt' })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setSubject(`client of ${tenantId}`)
        .setJti('token')
        .setIssuedAt()
        .setExpirationTime('10m')
        .sign(privateKey),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type TokenDesk = Awaited<ReturnType<typeof openTokenDesk>>;
