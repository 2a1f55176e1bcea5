import { changeConfiguration } from './change-configuration.js';
import type { Change, ChangePorts } from './change-configuration.js';
import { revise } from './configuration.js';
import type { Configuration } from './configuration.js';
import { getWebhook } from './get-webhook.js';
import type { FindByRef } from './get-webhook.js';

export interface RemovePorts extends ChangePorts {
  readonly findByRef: FindByRef;
  readonly now: () => Date;
}

/** `DELETE …/{ref}/secret`: deliveries are not signed any more. */
export function removeSecret(tenantId: string, ref: string, ports: RemovePorts): Promise<Change> {
  return changeConfiguration(
    {
      find: () => getWebhook(tenantId, ref, ports.findByRef),
      change: (current: Configuration) => revise(current, { secrets: [] }, ports.now()),
      onTaken: () => Promise.reject(new Error('a removed secret collided with another configuration')),
    },
    ports,
  );
}
