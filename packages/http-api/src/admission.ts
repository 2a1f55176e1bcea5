import type { Identity } from './identity.js';
import { createOpenRequests } from './open-requests.js';
import type { Operation } from './operation.js';
import type { ApiSettings } from './settings.js';
import { createTenantLimiter } from './tenant-limiter.js';

export type AdmissionLimits = Pick<ApiSettings, 'maxOpenRequests' | 'tenantRequests' | 'uncountedScope'>;

/** Lets a request in, before its body is read, and gives back what ends it. Throws 429 with `Retry-After`. */
export type Admit = (operation: Operation, identity: Identity) => () => void;

/** In the order of what a refusal costs: the tenant's rate, what the operation itself looks at, the room that is left. */
export function createAdmission({ maxOpenRequests, tenantRequests, uncountedScope }: AdmissionLimits): Admit {
  const rate = createTenantLimiter({ limit: tenantRequests, counted: 'requests', uncountedScope });
  const open = createOpenRequests({ total: maxOpenRequests, uncountedScope });
  return (operation, identity) => {
    rate.take(identity, 1);
    operation.admit?.(identity);
    return open.enter(identity);
  };
}
