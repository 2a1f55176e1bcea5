import type { EventType } from '@webhooks/contracts';
import { RevisionTable } from '@webhooks/kafka';
import type { Configuration } from './configuration.js';

/** All configurations, found in constant time by (tenant, ref), and the enabled ones by (tenant, event type). */
export class ConfigurationTable extends RevisionTable<Configuration> {
  readonly #routes = new Map<string, Partial<Record<EventType, Set<Configuration>>>>();

  override apply(next: Configuration): boolean {
    const previous = this.find(next.tenantId, next.ref);
    if (!super.apply(next)) return false;
    if (previous?.enabled) this.#routeOf(previous)?.delete(previous);
    if (next.enabled) this.#routeOf(next)?.add(next);
    return true;
  }

  /** Those that are notified of such an event now, in a list of its own. */
  enabledFor(tenantId: string, eventType: EventType): readonly Configuration[] {
    return [...(this.#routes.get(tenantId)?.[eventType] ?? [])];
  }

  #routeOf({ tenantId, eventType }: Configuration): Set<Configuration> | undefined {
    if (eventType === undefined) return undefined;
    const routes = this.#routes.get(tenantId) ?? {};
    this.#routes.set(tenantId, routes);
    return (routes[eventType] ??= new Set());
  }
}
