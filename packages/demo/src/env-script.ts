import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_DIR } from '@webhooks/testkit/account';
import type { FedStack } from '@webhooks/testkit/account';
import type { StackDescription } from '@webhooks/local';

const BASE = '/integration/v1';
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * `webhooks`, the command line, with the addresses and credentials of the variables, and nothing of another login. A receiver that is started
 * in this shell gets the files of its certificate.
 */
const COMMAND_LINE = `webhooks() {
  WEBHOOKS_PROFILE=npm-start WEBHOOKS_URL="$CONFIG_API" WEBHOOKS_INGEST_URL="$INGEST" WEBHOOKS_QUERY_URL="$QUERY_API" \\
    WEBHOOKS_TOKEN_ENDPOINT="$TOKEN_ENDPOINT" WEBHOOKS_CLIENT_ID="$CLIENT_ID" WEBHOOKS_CLIENT_SECRET="$CLIENT_SECRET" \\
    ${quoted(process.execPath)} ${quoted(join(DATA_DIR, '..', 'packages', 'cli', 'dist', 'src', 'main.js'))} "$@"
}
export CA_FILE CERT_FILE KEY_FILE
`;

/**
 * Returns a POSIX shell script with variables and a function `token [client id] [client secret]`. The variables are not exported, because
 * `npm test` in the same shell would use `KAFKA_BROKERS` as its engine.
 */
export const envScript = (variables: Readonly<Record<string, string>>): string => `${Object.entries(variables)
  .map(([name, value]) => `${name}=${quoted(value)}`)
  .join('\n')}
token() (
  response=$(curl -s --max-time 10 "$TOKEN_ENDPOINT" -u "\${1:-$CLIENT_ID}:\${2:-$CLIENT_SECRET}" -d grant_type=client_credentials) || true
  echo "$response" | sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p' | grep . ||
    { echo "no token from $TOKEN_ENDPOINT: \${response:-does npm start run?}" >&2; exit 1; }
)
`;

/** Returns the variables of every documented command: addresses of the APIs, and credentials for a token. */
export function callerVariables(
  { configApi, ingest, queryApi, tokenEndpoint, clients }: FedStack,
  receiver: string,
): Readonly<Record<string, string>> {
  const [client] = clients;
  return {
    CONFIG_API: configApi + BASE,
    INGEST: ingest + BASE,
    QUERY_API: (queryApi ?? '') + BASE,
    RECEIVER: receiver,
    TOKEN_ENDPOINT: tokenEndpoint,
    CLIENT_ID: client?.clientId ?? '',
    CLIENT_SECRET: client?.clientSecret ?? '',
  };
}

/** Returns all variables of `.data/env.sh`. */
function stackVariables(stack: StackDescription, receiver: string): Readonly<Record<string, string>> {
  const payments = stack.clients.find(({ scopes }) => scopes.includes('event.write.any'));
  const admin = (service: string): string => stack.admin[service] ?? '';
  return {
    ...callerVariables(stack, receiver),
    CONSOLE: stack.console ?? '',
    PAYMENT_CLIENT_ID: payments?.clientId ?? '',
    PAYMENT_CLIENT_SECRET: payments?.clientSecret ?? '',
    KAFKA_BROKERS: stack.kafkaBrokers.join(','),
    MONGODB_URI: stack.mongodbUri,
    WORKER_ADMIN: admin('delivery-worker'),
    CONFIG_API_ADMIN: admin('config-api'),
    INGEST_ADMIN: admin('ingest'),
    QUERY_API_ADMIN: admin('query-api'),
    CONSOLE_ADMIN: admin('console'),
    CA_FILE: stack.tls.caFile,
    CERT_FILE: stack.tls.certFile,
    KEY_FILE: stack.tls.keyFile,
  };
}

/** Writes `env.sh`, which every command of the documents uses, and returns its path. It holds secrets: mode 0600. */
export function writeEnvFile(dataDir: string, stack: StackDescription, receiver: string): string {
  const file = join(dataDir, 'env.sh');
  writeFileSync(file, envScript(stackVariables(stack, receiver)) + COMMAND_LINE, { mode: 0o600 });
  return file;
}
