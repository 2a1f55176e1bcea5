import { setTimeout as pause } from 'node:timers/promises';
import { errorFields } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { createApi } from './create-api.js';
import { listen } from './listen.js';
import type { Operation } from '../request/operation.js';
import type { ApiSettings } from './api-settings.js';
import { createTokenVerifier } from '../token/token-verifier.js';

/** Time that requests in flight get at shutdown. Then their connections are closed. */
const GRACE_MS = 15_000;

/**
 * Serves the operations of a service until it closes. Returns the port. Readiness needs the keys of the token issuer. A
 * service that shuts down is not ready, continues to serve for `shutdownDelayMs`, and then accepts no new request.
 */
export async function serveApi(
  settings: ApiSettings,
  operations: readonly Operation[],
  scope: ServiceScope,
): Promise<number> {
  const verifier = createTokenVerifier({
    issuer: settings.issuer,
    audience: settings.audience,
    jwksUri: settings.jwksUri,
    maxLifetimeSeconds: settings.maxTokenLifetimeSeconds,
    onRefreshFailed: (error) =>
      scope.log.warn('the keys of the token issuer could not be fetched', errorFields(error)),
  });
  scope.onClose('token verifier', () => {
    verifier.close();
    return Promise.resolve();
  });
  scope.health.readiness('token keys', () =>
    verifier.isReady() ? undefined : 'no keys of the token issuer',
  );
  const closing = new AbortController();
  const app = createApi({
    operations,
    verifier,
    tenantRule: settings.tenantRule,
    limits: settings,
    log: scope.log,
    registry: scope.registry,
    closing: closing.signal,
  });
  const server = await listen(app, settings);
  let ending = false;
  scope.health.readiness('shutdown', () => (ending ? 'the service is shutting down' : undefined));
  scope.onClose('http server', async ({ orderly }) => {
    ending = true;
    if (orderly) await pause(settings.shutdownDelayMs);
    closing.abort();
    return server.close(GRACE_MS);
  });
  scope.log.info('listening', { host: settings.host, port: server.port });
  return server.port;
}
