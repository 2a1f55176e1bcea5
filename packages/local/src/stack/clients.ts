import type { DevelopmentClient } from '../issuer/start-issuer.js';
import type { DevelopmentSecrets } from './development-secrets.js';

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
