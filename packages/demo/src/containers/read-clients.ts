import { readFileSync } from 'node:fs';
import type { DevelopmentClient } from '@webhooks/engines';
import { FILES } from './folders.js';

const isClient = (value: unknown): value is DevelopmentClient =>
  typeof value === 'object' &&
  value !== null &&
  ['clientId', 'clientSecret', 'tenantId', 'scopes'].every((name) => name in value);

/** The clients that `make-keys` wrote. Throws when the file holds anything else. */
export function readClients(): readonly DevelopmentClient[] {
  const clients: unknown = JSON.parse(readFileSync(FILES.clients, 'utf8'));
  if (Array.isArray(clients) && clients.length > 0 && clients.every(isClient)) return clients;
  throw new Error(`${FILES.clients} holds no clients`);
}
