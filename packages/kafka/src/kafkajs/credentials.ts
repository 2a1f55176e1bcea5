import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Authenticator, Mechanism, SASLOptions } from 'kafkajs';
import plain from 'kafkajs/src/broker/saslAuthenticator/plain.js';
import scram256 from 'kafkajs/src/broker/saslAuthenticator/scram256.js';
import scram512 from 'kafkajs/src/broker/saslAuthenticator/scram512.js';
import { shareNext } from '@webhooks/runtime';
import { asError, faultOf } from '../faults.js';
import { CONNECT_TIMEOUT_MS } from '../limits.js';
import { noLog, type Logger } from '../logger.js';

const PASSWORD_MECHANISMS = { plain, 'scram-sha-256': scram256, 'scram-sha-512': scram512 };
export const MECHANISMS = [...Object.keys(PASSWORD_MECHANISMS), 'oauthbearer'] as Credentials['mechanism'][];

/** How this process authenticates. The secret is read at each authentication, so that it can be renewed. */
interface Credentials {
  readonly mechanism: keyof typeof PASSWORD_MECHANISMS | 'oauthbearer';
  /** User name, or the client's id at the token endpoint. */
  readonly username: string;
  readonly password: () => string;
  /** For `oauthbearer`: URL of the token endpoint, and the scope to request. */
  readonly tokenEndpoint?: string | undefined;
  readonly scope?: string | undefined;
}

export interface IdentityOptions {
  /** Default: no TLS. */
  readonly tls?: ReadTlsFiles | undefined;
  /** Default: no authentication. */
  readonly sasl?: Credentials | undefined;
}

/** What all connections of this process authenticate with. */
export const toIdentity = ({ sasl, tls }: IdentityOptions, log: Logger = noLog) => ({
  sasl: sasl && toSasl(sasl),
  secureContext: tls && createRenewableContext(tls, log),
});
export type Identity = ReturnType<typeof toIdentity>;

/** Returns the credentials in the form of kafkajs. */
function toSasl(credentials: Credentials): SASLOptions | Mechanism {
  const { mechanism } = credentials;
  if (mechanism === 'oauthbearer')
    return { mechanism, oauthBearerProvider: createTokenProvider(credentials) };
  return { mechanism, authenticationProvider: withRenewal(credentials, PASSWORD_MECHANISMS[mechanism]) };
}

/**
 * While file and brokers are changed one after the other, they have different passwords. When the brokers refuse the
 * file's password, the next authentication uses the last one that they accepted.
 */
function withRenewal(
  { username, password }: Credentials,
  provider: typeof plain,
): Mechanism['authenticationProvider'] {
  let accepted: string | undefined;
  let refused: string | undefined;
  return (args) => ({
    authenticate: async (): ReturnType<Authenticator['authenticate']> => {
      const current = password();
      const tried = current === refused ? (accepted ?? current) : current;
      try {
        await provider({ username, password: tried })(args).authenticate();
        accepted = tried;
      } catch (error) {
        refused = tried === current ? current : undefined;
        throw error;
      }
    },
  });
}

/** Part of a token's lifetime after which it is renewed. */
const RENEW_AFTER = 0.8;

/** Returns a function that requests tokens by client credentials (RFC 6749 §4.4) and reuses each until it is old. */
function createTokenProvider({ tokenEndpoint = '', scope, username, password }: Credentials) {
  let token = { value: '', renewAt: -Infinity };
  const request = async (): Promise<typeof token> => {
    const grant = { grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) };
    const basic = Buffer.from(`${encodeURIComponent(username)}:${encodeURIComponent(password())}`);
    const response = await fetch(tokenEndpoint, {
      method: 'POST',
      headers: { authorization: `Basic ${basic.toString('base64')}` },
      body: new URLSearchParams(grant),
      redirect: 'error',
      signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const { access_token, expires_in } = (await response.json()) as Record<string, unknown>;
    if (typeof access_token !== 'string') throw new Error('the response has no access_token');
    return {
      value: access_token,
      renewAt: performance.now() + RENEW_AFTER * 1_000 * (Number(expires_in) || 0),
    };
  };
  const renew = shareNext(async () => (token = await request()));
  return async () => {
    if (performance.now() < token.renewAt) return token;
    return renew().catch((cause: unknown) => {
      throw new Error(`no token from KAFKA_SASL_TOKEN_ENDPOINT: ${asError(cause).message}`, { cause });
    });
  };
}

/** The PEM texts of the files, as they are now. Without `ca`, the authorities that Node bundles are trusted. */
type ReadTlsFiles = () => Record<'ca' | 'cert' | 'key', string | undefined>;

function toContext(files: ReturnType<ReadTlsFiles>): SecureContext {
  const { cert, key } = files;
  try {
    // OpenSSL compares them only when a broker requests the certificate.
    if (cert !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key ?? '')))
      throw new Error('certificate and key do not match');
    return createSecureContext(files);
  } catch (cause) {
    const { message } = asError(cause);
    throw new Error(`KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE or KAFKA_TLS_KEY_FILE: ${message}`, { cause });
  }
}

/**
 * Returns a function that returns the TLS context of the files as they are now. Files that make no context are
 * refused with a log line, and the previous context stays. Throws when the first ones make none.
 */
function createRenewableContext(read: ReadTlsFiles, log: Logger): () => SecureContext {
  let files = read();
  let context = toContext(files);
  return () => {
    const now = read();
    if (now.ca === files.ca && now.cert === files.cert && now.key === files.key) return context;
    files = now;
    try {
      context = toContext(now);
      log('info', 'kafka: the TLS files were renewed');
    } catch (error) {
      log('warn', 'kafka: the renewed TLS files are refused; the previous ones stay', faultOf(error));
    }
    return context;
  };
}
