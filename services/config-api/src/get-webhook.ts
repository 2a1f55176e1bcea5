import { AppError } from '@webhooks/http-api';
import type { Configuration } from './configuration.js';

export type FindByRef = (tenantId: string, ref: string) => Promise<Configuration | undefined>;

export interface WebhookName {
  readonly tenantId: string;
  readonly ref: string;
}

/** The configuration with this ref; throws 404 when the tenant has none, whoever else may have one. */
export async function getWebhook(
  { tenantId, ref }: WebhookName,
  findByRef: FindByRef,
): Promise<Configuration> {
  const found = await findByRef(tenantId, ref);
  if (!found) throw new AppError('not-found', 'there is no webhook with this ref');
  return found;
}
