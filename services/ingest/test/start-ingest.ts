import { startIssuer, testKafkaBrokers } from '@webhooks/local';
import type { DevelopmentClient } from '@webhooks/local';
import { AUDIENCE, LOCAL_API, startInProcess } from '@webhooks/testkit';
import { composeIngest } from '../src/compose.js';
import { readIngestConfig } from '../src/config.js';

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

export type RunningIngest = Awaited<ReturnType<typeof startIngest>>;

/** The real service in this process, against a real broker and a real issuer. */
export async function startIngest(env: Readonly<Record<string, string>> = {}) {
  const issuer = await startIssuer({ audience: AUDIENCE, clients: Object.values(CLIENTS) });
  const service = await startInProcess(
    { readConfig: readIngestConfig, compose: composeIngest },
    {
      KAFKA_BROKERS: testKafkaBrokers().join(','),
      ...{ TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URI: issuer.jwksUri, TOKEN_AUDIENCE: AUDIENCE },
      ...LOCAL_API,
      ...env,
    },
  );
  return {
    ...service,
    tokenEndpoint: issuer.tokenEndpoint,
    /** Why it is not ready, by the name of the probe. */
    faults: () => service.ready().faults,
    stop: async () => {
      await service.stop();
      await issuer.stop();
    },
  };
}
