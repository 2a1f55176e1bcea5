import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DevelopmentPerson, DevelopmentWebClient } from '../issuer/sign-in.js';
import type { DevelopmentClient } from '../issuer/issuer-configuration.js';

interface Stored {
  readonly keyring: string;
  readonly seed: string;
}

function load(file: string): Stored {
  if (existsSync(file)) {
    const { keyring, seed } = (JSON.parse(readFileSync(file, 'utf8')) ?? {}) as Partial<Stored>;
    if (keyring !== undefined && seed !== undefined) return { keyring, seed };
    throw new Error(`${file} holds no secrets; remove the data folder, and the next start makes new ones`);
  }
  const made = {
    keyring: `dev:${randomBytes(32).toString('base64')}`,
    seed: randomBytes(32).toString('hex'),
  };
  writeFileSync(file, JSON.stringify(made), { mode: 0o600 });
  return made;
}

/** Opens the secrets of one development stack. They are made at its first start and kept in its data folder (mode 0600). */
export function openDevelopmentSecrets(dataDir: string) {
  const { keyring, seed } = load(join(dataDir, 'secrets.json'));
  return {
    /** For `SECRETS_KEYS` of config-api and delivery-worker. */
    keyring,
    clientSecret: (clientId: string): string =>
      createHmac('sha256', seed).update(clientId).digest('base64url'),
  };
}

export type DevelopmentSecrets = ReturnType<typeof openDevelopmentSecrets>;

/** Scopes of a tenant's client. `event.write.any`, for all tenants, is not among them. */
const TENANT_SCOPES: readonly string[] = [
  'webhook.read',
  'webhook.write',
  'event.write',
  'event.read',
  'cob.read',
  'pix.read',
  'delivery.read',
  'delivery.write',
];

/** Two tenants that always exist, with a client each, first in the list. */
export const DEFAULT_TENANTS = ['acme', 'globex'] as const;

export const PAYMENT_SYSTEM = 'payment-system';

/** A client for each tenant, and one for a payment system that serves all of them. */
export function planClients(
  tenants: readonly string[],
  secrets: DevelopmentSecrets,
): readonly DevelopmentClient[] {
  const all = [...new Set([...DEFAULT_TENANTS, ...tenants])];
  const client = (clientId: string, tenantId: string, scopes: readonly string[]): DevelopmentClient => ({
    clientId,
    clientSecret: secrets.clientSecret(clientId),
    tenantId,
    scopes,
  });
  return [
    ...all.map((tenantId) => client(`${tenantId}-app`, tenantId, TENANT_SCOPES)),
    client(PAYMENT_SYSTEM, DEFAULT_TENANTS[0], ['event.write.any']),
  ];
}

/** Who signs in at the console: a person of each tenant that always exists, and one of the operator, who reads every tenant. */
export const PEOPLE: readonly DevelopmentPerson[] = [
  { sub: 'ana', name: 'Ana (acme)', tenantId: 'acme', scopes: TENANT_SCOPES },
  { sub: 'bruno', name: 'Bruno (globex)', tenantId: 'globex', scopes: TENANT_SCOPES },
  {
    sub: 'olga',
    name: 'Olga (operator)',
    scopes: ['tenant.any', ...TENANT_SCOPES.filter((scope) => scope.endsWith('.read'))],
  },
];

/** The console at the token issuer. Browsers take `Secure` cookies of `http://localhost`. */
export const planConsole = (origin: string, clientSecret: string): DevelopmentWebClient => ({
  ...{ clientId: 'console', clientSecret },
  ...{ redirectUri: `${origin}/auth/callback`, signedOutUri: `${origin}/` },
});
