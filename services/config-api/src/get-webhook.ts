import { AppError } from '@webhooks/http-api';
import type { ConfigurationName } from './configuration-cache.js';
import type { Configuration } from './configuration.js';

export type FindByRef = (tenantId: string, ref: string) => Promise<Configuration | undefined>;

/** The configuration with this ref; throws 404 when the tenant has none, whoever else may have one. */
export async function getWebhook(
  { tenantId, ref }: ConfigurationName,
  findByRef: FindByRef,
): Promise<Configuration> {
  const found = await findByRef(tenantId, ref);
  if (!found) throw new AppError('not-found', 'there is no webhook with this ref');
  return found;
}
