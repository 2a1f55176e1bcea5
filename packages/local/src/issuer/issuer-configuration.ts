import { randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import type { ClientMetadata, Configuration } from 'oidc-provider';
import { memoryAdapter, signInConfiguration, SIGN_OUT_PAGES } from './sign-in.js';
import type { DevelopmentPerson, DevelopmentWebClient } from './sign-in.js';
import type { Log } from '../engine/wait.js';

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
  /** Who may sign in, and where; default: nobody. */
  readonly people?: readonly DevelopmentPerson[];
  readonly webClient?: DevelopmentWebClient;
  /** Lifetime of access tokens, seconds; default 600. */
  readonly tokenSeconds?: number;
  /** File for the signing key, so that tokens stay valid across restarts; created when missing, mode 0600. Default: none. */
  readonly keysFile?: string;
  readonly log?: Log;
}

/** The provider's resource indicator, a URI. Tokens have `audience`, which need not be a URI. */
const RESOURCE = 'urn:webhooks:api';
/** Lifetime of a token, and of a sign-in under way. */
const TTL_SECONDS = 600;
/** How long a person stays signed in at the issuer. */
const SIGNED_IN_S = 86_400;

const machineClient = ({ clientId, clientSecret, scopes }: DevelopmentClient): ClientMetadata => ({
  ...{ client_id: clientId, client_secret: clientSecret, scope: scopes.join(' ') },
  ...{ grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
});

const webClient = (client: DevelopmentWebClient): ClientMetadata => ({
  ...{ client_id: client.clientId, client_secret: client.clientSecret },
  ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
  ...{ redirect_uris: [client.redirectUri], post_logout_redirect_uris: [client.signedOutUri] },
});

/** Returns the configuration of the provider. A client that requests no scope gets all of its own. */
export function configurationFor(options: IssuerOptions, key: JWK): Configuration {
  const { clients, people = [], audience, tokenSeconds = TTL_SECONDS } = options;
  const scopes = [...new Set([...clients, ...people].flatMap((one) => one.scopes))];
  const { personOf, configuration } = signInConfiguration(people, RESOURCE, scopes);
  const tenants = new Map(clients.map((client) => [client.clientId, client.tenantId]));
  return {
    ...configuration,
    adapter: memoryAdapter(),
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    scopes: ['openid', 'offline_access', ...scopes],
    ttl: {
      ...{ ClientCredentials: tokenSeconds, AccessToken: tokenSeconds, IdToken: TTL_SECONDS },
      ...{ AuthorizationCode: TTL_SECONDS, Interaction: TTL_SECONDS },
      ...{ Session: SIGNED_IN_S, Grant: SIGNED_IN_S, RefreshToken: SIGNED_IN_S },
    },
    clients: [...clients.map(machineClient), ...(options.webClient ? [webClient(options.webClient)] : [])],
    extraTokenClaims: (_context, token) => ({
      tenant_id:
        'accountId' in token ? personOf(token.accountId)?.tenantId : tenants.get(token.clientId ?? ''),
    }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: { enabled: true, ...SIGN_OUT_PAGES },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (context, _indicator, client) => {
          const parameters = context.oidc.params;
          if (parameters) parameters['scope'] ??= client.scope;
          return {
            ...{ scope: scopes.join(' '), audience, accessTokenTTL: tokenSeconds },
            ...{ accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } },
          };
        },
      },
    },
  };
}
