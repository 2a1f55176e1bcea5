import { startIssuer, testKafkaBrokers } from '@webhooks/local';
import type { DevelopmentClient } from '@webhooks/local';
import { Closers, HealthBoard, Registry, SettingsReader } from '@webhooks/runtime';
import type { LogFields } from '@webhooks/runtime';
import { composeIngest } from '../src/compose.js';
import { readIngestConfig } from '../src/config.js';

const AUDIENCE = 'urn:test:webhooks';

export const CLIENTS = {
  acme: { clientId: 'acme', clientSecret: 'acme-secret', tenantId: 'acme', scopes: ['event.write'] },
  globex: { clientId: 'globex', clientSecret: 'globex-secret', tenantId: 'globex', scopes: ['event.write'] },
  reader: { clientId: 'reader', clientSecret: 'reader-secret', tenantId: 'acme', scopes: ['webhook.read'] },
  payments: {
    clientId: 'payments',
    clientSecret: 'pay-secret',
    tenantId: 'acme',
    scopes: ['event.write.any'],
  },
} as const satisfies Record<string, DevelopmentClient>;

export interface RunningIngest {
  readonly url: string;
  readonly tokenEndpoint: string;
  readonly metrics: () => Promise<string>;
  /** Why it is not ready, by the name of the probe. */
  readonly faults: () => Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

const silent = () => undefined;

/** The real service in this process, against a real broker and a real issuer. */
export async function startIngest(env: Readonly<Record<string, string>> = {}): Promise<RunningIngest> {
  const issuer = await startIssuer({ audience: AUDIENCE, clients: Object.values(CLIENTS) });
  const closers = new Closers();
  closers.add('issuer', () => issuer.stop());
  let port = 0;
  const log = {
    debug: silent,
    info: (message: string, fields?: LogFields) => {
      if (message === 'listening') port = Number(fields?.['port']);
    },
    warn: silent,
    error: silent,
  };
  const registry = new Registry();
  const health = new HealthBoard();
  const settings = new SettingsReader({
    KAFKA_BROKERS: testKafkaBrokers().join(','),
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URI: issuer.jwksUri,
    TOKEN_AUDIENCE: AUDIENCE,
    HOST: '127.0.0.1',
    PORT: '0',
    SHUTDOWN_DELAY_MS: '0',
    ...env,
  });
  await composeIngest(readIngestConfig(settings), {
    log,
    registry,
    health,
    onClose: (name, close) => closers.add(name, close),
    addPage: silent,
    fail: silent,
  });
  return {
    url: `http://127.0.0.1:${port}`,
    tokenEndpoint: issuer.tokenEndpoint,
    metrics: () => registry.metrics(),
    faults: () => health.isReady().faults,
    stop: async () => {
      await closers.closeAll(log, 20_000);
    },
  };
}
