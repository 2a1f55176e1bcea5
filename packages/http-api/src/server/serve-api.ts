import type { RequestListener } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { addGauge, createLogThrottle, errorFields } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { createApi } from './create-api.js';
import { listen, type ListenSettings } from './listen.js';
import type { Operation } from '../request/operation.js';
import type { ApiSettings, TokenSettings } from './api-settings.js';
import { watchTenantFile } from '../token/tenant-file.js';
import { createTokenVerifier } from '../token/token-verifier.js';

/** Time that requests in flight get at shutdown. Then their connections are closed. */
const GRACE_MS = 15_000;

/** Opens the verifier. Readiness needs the keys of the token issuer, and names what is wrong with them. */
export function openVerifier(settings: TokenSettings, { health, log, registry, onClose }: ServiceScope) {
  const throttle = createLogThrottle();
  let fault = 'the keys of the token issuer are being fetched';
  const verifier = createTokenVerifier({
    ...settings,
    onRefreshFailed: (error) => {
      fault = error instanceof Error ? error.message : String(error);
      throttle(() => log.warn('the keys of the token issuer could not be fetched', errorFields(error)));
    },
  });
  onClose('token verifier', () => {
    verifier.close();
    return Promise.resolve();
  });
  const age = 'How long ago the keys of the token issuer were fetched';
  addGauge(registry, 'token_issuer_keys_age_seconds', age, () => verifier.keysAgeMs() / 1_000);
  health.readiness('token keys', () => (verifier.isReady() ? undefined : fault));
  return verifier;
}

/**
 * Listens until the service closes. Returns the port. A service that shuts down is not ready, continues to serve for
 * `shutdownDelayMs`, calls `onEnd`, and then accepts no new request.
 */
export async function serve(
  app: RequestListener,
  settings: ListenSettings,
  { health, log, onClose }: ServiceScope,
  onEnd: () => void = () => undefined,
): Promise<number> {
  const server = await listen(app, settings);
  let ending = false;
  health.readiness('shutdown', () => (ending ? 'the service is shutting down' : undefined));
  onClose('http server', async (isOrderly) => {
    ending = true;
    if (isOrderly) await pause(settings.shutdownDelayMs);
    onEnd();
    return server.close(GRACE_MS);
  });
  log.info('listening', { host: settings.host, port: server.port });
  return server.port;
}

/** Serves the operations of a service until it closes. Returns the port. Readiness needs the keys of the token issuer. */
export async function serveApi(
  settings: ApiSettings,
  operations: readonly Operation[],
  scope: ServiceScope,
): Promise<number> {
  const closing = new AbortController();
  const { tenantFile, singleTenant } = settings;
  const tenantOf = tenantFile && watchTenantFile(tenantFile, scope);
  const app = createApi({
    operations,
    verifier: openVerifier(settings, scope),
    tenantOf: (clientId) => tenantOf?.(clientId) ?? singleTenant,
    limits: settings,
    log: scope.log,
    registry: scope.registry,
    closing: closing.signal,
  });
  return serve(app, settings, scope, () => closing.abort());
}
