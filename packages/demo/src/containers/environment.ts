import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DevelopmentClient } from '@webhooks/local';

const ROOT = '/var/lib/webhooks';

/** Where the volumes of docker-compose.yml are mounted; each container sees only those that it needs. */
export const FOLDERS = {
  /** The certificate authority's key, and the seed of all development secrets: for `make-keys` alone. */
  authority: join(ROOT, 'authority'),
  /** The connection string of config-api. */
  configDatabase: join(ROOT, 'config-database'),
  /** The secret of the console at the token issuer. */
  console: join(ROOT, 'console'),
  /** The passwords of the database's users: for the database alone. */
  database: join(ROOT, 'database'),
  /** The connection string of query-api. */
  queryDatabase: join(ROOT, 'query-database'),
  /** The receiver's certificate, key and append-only file. */
  receiver: join(ROOT, 'receiver'),
  /** Keys of config-api and delivery-worker, and the authority that deliveries trust. */
  secrets: join(ROOT, 'secrets'),
  /** Clients and signing key of the token issuer. */
  tokens: join(ROOT, 'tokens'),
} as const;

export const FILES = {
  certificate: join(FOLDERS.receiver, 'cert.pem'),
  certificateKey: join(FOLDERS.receiver, 'key.pem'),
  receipts: join(FOLDERS.receiver, 'receipts.ndjson'),
  clients: join(FOLDERS.tokens, 'clients.json'),
  consoleSecret: join(FOLDERS.console, 'client-secret'),
} as const;

/** A variable of docker-compose.yml. Throws with its name when it is missing. */
export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is required; see docker-compose.yml`);
  return value;
}

/** Reads the clients that `make-keys` wrote. */
export const readClients = (): readonly DevelopmentClient[] =>
  JSON.parse(readFileSync(FILES.clients, 'utf8')) as readonly DevelopmentClient[];
