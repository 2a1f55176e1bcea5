import type { ProxiedListener } from '../kafka/broker-properties.js';
import type { KafkaEngine } from '../kafka/start-kafka.js';
import type { MongoEngine } from '../mongo/start-mongo.js';
import type { DevelopmentWebClient } from '../issuer/sign-in.js';
import type { Issuer } from '../issuer/start-issuer.js';
import type { Ports } from './ports.js';

/** Proxies between the services and the engines, which a test can cut. The test itself connects to the engines directly. */
export interface EngineProxies {
  /** The broker's listener for each service. A service that is not named connects to the broker directly. */
  readonly kafka: Readonly<Record<string, ProxiedListener>>;
  /** Takes the database's port and returns the proxy's, both at 127.0.0.1. */
  readonly mongodb: (port: number) => number;
}

interface EnvironmentParts {
  readonly ports: Ports;
  readonly kafka: KafkaEngine;
  readonly mongo: MongoEngine;
  readonly proxies: EngineProxies | undefined;
  readonly issuer: Issuer;
  readonly webClient: DevelopmentWebClient;
  readonly audience: string;
  readonly keyring: string;
  readonly caFile: string;
  /** Settings for each service that replace the ones planned here. */
  readonly overrides: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface ServicePlan {
  readonly name: string;
  readonly adminPort: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Returns `KAFKA_BROKERS` of this service: its proxy, or all brokers. */
function brokersOf(service: string, { kafka, proxies }: EnvironmentParts): string {
  const listener = proxies?.kafka[service];
  return listener ? `127.0.0.1:${listener.advertisedPort}` : kafka.brokers.join(',');
}

/** Returns `MONGODB_URI` of the services that use this database. */
function mongoUriOf(database: string, { mongo, proxies }: EnvironmentParts): string {
  const uri = mongo.uri(database);
  return proxies ? uri.replace(/:(\d+)\//, (_, port) => `:${proxies.mongodb(Number(port))}/`) : uri;
}

const consoleSettings = ({ ports, webClient }: EnvironmentParts) => ({
  PORT: String(ports.console),
  PUBLIC_URL: webClient.signedOutUri,
  CONFIG_API_URL: `http://127.0.0.1:${ports.configApi}`,
  QUERY_API_URL: `http://127.0.0.1:${ports.queryApi}`,
  CLIENT_ID: webClient.clientId,
  CLIENT_SECRET: webClient.clientSecret,
  AUTHORIZATION_PARAMETERS:
    'scope=openid offline_access webhook.read webhook.write event.read cob.read pix.read delivery.read delivery.write tenant.any',
});

/** Plans the services of a one-machine stack: name, admin port and settings of each. */
export function planServices(parts: EnvironmentParts): readonly ServicePlan[] {
  const { ports, issuer } = parts;
  const api = {
    HOST: '127.0.0.1',
    // No load balancer polls this service, so none has to notice its stop.
    SHUTDOWN_DELAY_MS: '0',
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_PROFILE: 'rfc9068',
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
        MONGODB_URI: mongoUriOf('webhook_config', parts),
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
        MONGODB_URI: mongoUriOf('webhook_query', parts),
      },
    },
    { name: 'console', adminPort: ports.consoleAdmin, env: { ...api, ...consoleSettings(parts) } },
  ];
  return plans.map((plan) => ({
    ...plan,
    env: {
      KAFKA_BROKERS: brokersOf(plan.name, parts),
      ...plan.env,
      ...parts.overrides[plan.name],
    },
  }));
}
