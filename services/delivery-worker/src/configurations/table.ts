import type { EventType } from '@webhooks/contracts';
import type { Configuration } from './configuration.js';

const NONE: readonly Configuration[] = [];

/** The enabled configurations of one (tenant, event type). */
interface Route {
  members: Configuration[];
  /** Somebody was given `members`: it is copied before the next change. */
  held: boolean;
}

/** Everything of one tenant. No key is built to find it: both names are looked up as they come. */
interface Tenant {
  readonly byRef: Map<string, Configuration>;
  readonly routes: Partial<Record<EventType, Route>>;
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

  /** Those that are told of such an event now. The list is never changed in place. */
  enabledFor(tenantId: string, eventType: EventType): readonly Configuration[] {
    const route = this.#tenants.get(tenantId)?.routes[eventType];
    if (route === undefined) return NONE;
    route.held = true;
    return route.members;
  }

  #tenantOf(tenantId: string): Tenant {
    const known = this.#tenants.get(tenantId);
    if (known) return known;
    const tenant: Tenant = { byRef: new Map(), routes: {} };
    this.#tenants.set(tenantId, tenant);
    return tenant;
  }
}

/** The members for a change: copied only if somebody holds them, so that thousands are not copied for each one that joins. */
function ownMembers(route: Route): Configuration[] {
  if (route.held) {
    route.members = [...route.members];
    route.held = false;
  }
  return route.members;
}

function joinRoute({ routes }: Tenant, configuration: Configuration): void {
  if (configuration.eventType === undefined) return;
  const route = routes[configuration.eventType];
  if (route) ownMembers(route).push(configuration);
  else routes[configuration.eventType] = { members: [configuration], held: false };
}

function leaveRoute({ routes }: Tenant, configuration: Configuration): void {
  if (configuration.eventType === undefined) return;
  const route = routes[configuration.eventType];
  if (!route) return;
  const index = route.members.indexOf(configuration);
  if (index >= 0) ownMembers(route).splice(index, 1);
}
