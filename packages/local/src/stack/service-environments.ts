import type { Issuer } from '../issuer/start-issuer.js';
import type { Ports } from './ports.js';

export interface EnvironmentParts {
  readonly ports: Ports;
  /** `host:port` at which a service finds the broker. */
  readonly brokersOf: (service: string) => readonly string[];
  /** Connection string for a database of this name. */
  readonly mongodbUri: (database: string) => string;
  readonly issuer: Issuer;
  readonly audience: string;
  readonly keyring: string;
  readonly caFile: string;
  /** Further settings for each service; they replace the ones made here. */
  readonly overrides: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface ServicePlan {
  readonly name: string;
  readonly adminPort: number;
  readonly env: Readonly<Record<string, string>>;
}

/** What each service of a one-machine stack is started with. */
export function planServices(parts: EnvironmentParts): readonly ServicePlan[] {
  const { ports, issuer } = parts;
  const api = {
    HOST: '127.0.0.1',
    // No proxy looks here.
    SHUTDOWN_DELAY_MS: '0',
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URI: issuer.jwksUri,
    TOKEN_AUDIENCE: parts.audience,
  };
  const endpoints = { ALLOW_LOCALHOST_ENDPOINTS: 'true', ENDPOINT_CA_FILE: parts.caFile };
  const secrets = { SECRETS_KEYS: parts.keyring };
  const plans: readonly ServicePlan[] = [
    {
      name: 'config-api',
      adminPort: ports.configApiAdmin,
      env: {
        ...api,
        ...endpoints,
        ...secrets,
        PORT: String(ports.configApi),
        MONGODB_URI: parts.mongodbUri('webhook_config'),
      },
    },
    { name: 'ingest', adminPort: ports.ingestAdmin, env: { ...api, PORT: String(ports.ingest) } },
    { name: 'delivery-worker', adminPort: ports.workerAdmin, env: { ...endpoints, ...secrets } },
    {
      name: 'query-api',
      adminPort: ports.queryApiAdmin,
      env: {
        ...api,
        PORT: String(ports.queryApi),
        MONGODB_URI: parts.mongodbUri('webhook_query'),
      },
    },
  ];
  return plans.map((plan) => ({
    ...plan,
    env: {
      KAFKA_BROKERS: parts.brokersOf(plan.name).join(','),
      ...plan.env,
      ...parts.overrides[plan.name],
    },
  }));
}
