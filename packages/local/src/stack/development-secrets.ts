import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Secrets of one development stack, made at its first start and kept in its data folder (mode 0600). */
export interface DevelopmentSecrets {
  /** For `SECRETS_KEYS` of config-api and delivery-worker. */
  readonly keyring: string;
  clientSecret(clientId: string): string;
}

interface Stored {
  readonly keyring: string;
  readonly seed: string;
}

function isStored(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null && 'keyring' in value && 'seed' in value;
}

function load(file: string): Stored {
  if (existsSync(file)) {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isStored(stored)) return stored;
    throw new Error(`${file} holds no secrets; remove the data folder, and the next start makes new ones`);
  }
  const made = {
    keyring: `dev:${randomBytes(32).toString('base64')}`,
    seed: randomBytes(32).toString('hex'),
  };
  writeFileSync(file, JSON.stringify(made), { mode: 0o600 });
  return made;
}

export function openDevelopmentSecrets(dataDir: string): DevelopmentSecrets {
  const { keyring, seed } = load(join(dataDir, 'secrets.json'));
  return {
    keyring,
    clientSecret: (clientId) => createHmac('sha256', seed).update(clientId).digest('base64url'),
  };
}
