import { AppError } from './app-error.js';
import type { Identity } from './identity.js';
import type { Shed } from './shed.js';

/** The requests that are under way in one instance: their number is bounded, and so is what waits for database and Kafka. */
export interface OpenRequests {
  /**
   * Lets a request in and gives back what ends it, to be called once. Throws 429 with `Retry-After` when its tenant has
   * its share, or when there is no room at all.
   */
  enter(caller: Pick<Identity, 'tenantId' | 'scopes'>): () => void;
}

const refusal = (whose: string, shed: Shed) =>
  new AppError('too-many-requests', `too many requests${whose} are under way; send this one again`, {
    headers: { 'retry-after': '1' },
    shed,
  });

/**
 * A tenant gets in while it has fewer requests under way than are free (a dynamic threshold, as of a switch's buffer): one
 * alone gets half of `max`, two get a third each, and there is room for another one. Tokens with `uncountedScope` are
 * the operator's own and may have it all.
 */
export function createOpenRequests(max: number, uncountedScope?: string): OpenRequests {
  /** Only tenants with a request under way. */
  const byTenant = new Map<string, number>();
  let free = max;
  const isCounted = (scopes: ReadonlySet<string>): boolean =>
    uncountedScope === undefined || !scopes.has(uncountedScope);
  const count = (tenantId: string, change: 1 | -1): void => {
    const open = (byTenant.get(tenantId) ?? 0) + change;
    if (open === 0) byTenant.delete(tenantId);
    else byTenant.set(tenantId, open);
  };
  return {
    enter: ({ tenantId, scopes }) => {
      if (free === 0) throw refusal('', { reason: 'open-requests' });
      const counted = isCounted(scopes);
      if (counted && (byTenant.get(tenantId) ?? 0) >= free)
        throw refusal(' of this tenant', { reason: 'tenant-share', tenantId });
      free -= 1;
      if (counted) count(tenantId, 1);
      return () => {
        free += 1;
        if (counted) count(tenantId, -1);
      };
    },
  };
}
