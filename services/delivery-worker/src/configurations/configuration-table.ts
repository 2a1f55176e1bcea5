import type { EventType } from '@webhooks/contracts';
import { RevisionTable } from '@webhooks/kafka';
import type { Configuration } from './configuration.js';

interface Route {
  readonly enabled: Set<Configuration>;
  /** The same by `ref`, until one comes or goes. */
  sorted?: readonly Configuration[] | undefined;
}

/** All configurations, found in constant time by (tenant, ref), and the enabled ones by (tenant, event type). */
export class ConfigurationTable extends RevisionTable<Configuration> {
  /** Enabled ones whose deliveries needed a key that is missing when they were read. */
  readonly unopened = new Set<Configuration>();
  readonly #routes = new Map<string, Partial<Record<EventType, Route>>>();

  override apply(next: Configuration): boolean {
    const previous = this.find(next.tenantId, next.ref);
    if (!super.apply(next)) return false;
    if (previous?.enabled) this.#remove(previous);
    if (next.enabled) this.#add(next);
    return true;
  }

  #remove(previous: Configuration): void {
    this.#changedRoute(previous)?.delete(previous);
    this.unopened.delete(previous);
  }

  #add(next: Configuration): void {
    this.#changedRoute(next)?.add(next);
    if (next.missingKey(Date.now()) !== undefined) this.unopened.add(next);
  }

  /** Those that are notified of such an event now, by `ref`. The list never changes. */
  enabledFor(tenantId: string, eventType: EventType): readonly Configuration[] {
    const route = this.#routes.get(tenantId)?.[eventType];
    if (route === undefined) return [];
    return (route.sorted ??= [...route.enabled].sort((one, other) => (one.ref < other.ref ? -1 : 1)));
  }

  #changedRoute({ tenantId, eventType }: Configuration): Set<Configuration> | undefined {
    if (eventType === undefined) return undefined;
    const routes = this.#routes.get(tenantId) ?? {};
    this.#routes.set(tenantId, routes);
    const route = (routes[eventType] ??= { enabled: new Set() });
    route.sorted = undefined;
    return route.enabled;
  }
}
