import { configurationKey } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import type { Configuration } from './configuration.js';

const NONE: readonly Configuration[] = [];

/** All configurations, found in constant time by key and by (tenant, event type). */
export class ConfigurationTable {
  private readonly byKey = new Map<string, Configuration>();
  private readonly enabledByRoute = new Map<string, readonly Configuration[]>();

  get size(): number {
    return this.byKey.size;
  }

  /** Applies a configuration if its revision is higher than the known one: publishers may overtake each other. */
  apply(next: Configuration): boolean {
    const key = configurationKey(next.tenantId, next.ref);
    const known = this.byKey.get(key);
    if (known && known.revision >= next.revision) return false;
    this.byKey.set(key, next);
    if (known?.enabled) this.leaveRoute(known);
    if (next.enabled) this.joinRoute(next);
    return true;
  }

  find(tenantId: string, ref: string): Configuration | undefined {
    return this.byKey.get(configurationKey(tenantId, ref));
  }

  /** Those that are told of such an event now. The list is never changed in place. */
  enabledFor(tenantId: string, eventType: EventType): readonly Configuration[] {
    return this.enabledByRoute.get(`${tenantId}/${eventType}`) ?? NONE;
  }

  private joinRoute(configuration: Configuration): void {
    const route = routeOf(configuration);
    this.enabledByRoute.set(route, [...(this.enabledByRoute.get(route) ?? NONE), configuration]);
  }

  private leaveRoute({ ref, ...rest }: Configuration): void {
    const route = routeOf(rest);
    const others = (this.enabledByRoute.get(route) ?? NONE).filter((candidate) => candidate.ref !== ref);
    if (others.length === 0) this.enabledByRoute.delete(route);
    else this.enabledByRoute.set(route, others);
  }
}

const routeOf = ({ tenantId, eventType }: Pick<Configuration, 'tenantId' | 'eventType'>): string =>
  `${tenantId}/${eventType}`;
