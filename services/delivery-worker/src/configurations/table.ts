import type { EventType } from '@webhooks/contracts';
import type { Configuration } from './configuration.js';

/** Everything of one tenant. No key is built to find it: both names are looked up as they come. */
interface Tenant {
  readonly byRef: Map<string, Configuration>;
  /** The enabled ones. */
  readonly routes: Partial<Record<EventType, Set<Configuration>>>;
}

/** All configurations, found in constant time by (tenant, ref) and by (tenant, event type). */
export class ConfigurationTable {
  readonly #tenants = new Map<string, Tenant>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Applies a configuration if its revision is higher than the known one: publishers may overtake each other. */
  apply(next: Configuration): boolean {
    const tenant = this.#tenantOf(next.tenantId);
    const known = tenant.byRef.get(next.ref);
    if (known && known.revision >= next.revision) return false;
    tenant.byRef.set(next.ref, next);
    if (!known) this.#size += 1;
    if (known?.enabled) leaveRoute(tenant, known);
    if (next.enabled) joinRoute(tenant, next);
    return true;
  }

  find(tenantId: string, ref: string): Configuration | undefined {
    return this.#tenants.get(tenantId)?.byRef.get(ref);
  }

  /** Whether a tenant has any configuration, enabled or not. */
  hasTenant(tenantId: string): boolean {
    return this.#tenants.has(tenantId);
  }

  /** Those that are told of such an event now. */
  enabledFor(tenantId: string, eventType: EventType): readonly Configuration[] {
    return [...(this.#tenants.get(tenantId)?.routes[eventType] ?? [])];
  }

  #tenantOf(tenantId: string): Tenant {
    const known = this.#tenants.get(tenantId);
    if (known) return known;
    const tenant: Tenant = { byRef: new Map(), routes: {} };
    this.#tenants.set(tenantId, tenant);
    return tenant;
  }
}

function joinRoute({ routes }: Tenant, configuration: Configuration): void {
  const { eventType } = configuration;
  if (eventType !== undefined) (routes[eventType] ??= new Set()).add(configuration);
}

function leaveRoute({ routes }: Tenant, configuration: Configuration): void {
  const { eventType } = configuration;
  if (eventType !== undefined) routes[eventType]?.delete(configuration);
}
