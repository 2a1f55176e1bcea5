import { LRUCache } from 'lru-cache';
import type { Connection } from '../connection.js';
import type { GuardedConnect, SessionSlot } from '../guarded-connector.js';
import { OriginPool } from './origin-pool.js';
import type { PoolLimits, PoolPorts } from './origin-pool.js';

/** The pools by tenant, origin and client certificate; one that is empty is dropped. */
export class OriginPools {
  readonly #pools = new Map<string, OriginPool>();
  #ports: Omit<PoolPorts, 'session' | 'onEmpty'>;
  /** Tells the pools of one client certificate from those before it. */
  #suffix = '';
  readonly #sessions: LRUCache<string, SessionSlot>;

  constructor(connect: GuardedConnect, limits: PoolLimits) {
    this.#ports = { connect, limits, idle: new Set<Connection>() };
    // No longer than a connection is used: a resumed session shows no certificate. A few KiB each.
    this.#sessions = new LRUCache({ max: limits.maxIdleConnections, ttl: limits.maxConnectionAgeMs });
  }

  get size(): number {
    return this.#pools.size;
  }

  of(tenantId: string, origin: string): OriginPool {
    const key = `${tenantId} ${origin}${this.#suffix}`;
    return this.#pools.get(key) ?? this.#create(key, origin);
  }

  /**
   * From now on, with another client certificate. The pools before keep their way, and end by themselves once nobody posts to them;
   * so neither connections nor sessions, which are kept by pool, pass from one certificate to another.
   */
  connectBy(connect: GuardedConnect): void {
    this.#ports = { ...this.#ports, connect };
    this.#suffix += '*';
  }

  /** Once no attempt is under way: resolves when all connections are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  #create(key: string, origin: string): OriginPool {
    const pool = new OriginPool(origin, {
      ...this.#ports,
      session: () => this.#sessionOf(key),
      onEmpty: () => this.#pools.delete(key),
    });
    this.#pools.set(key, pool);
    return pool;
  }

  #sessionOf(key: string): SessionSlot {
    const slot = this.#sessions.get(key) ?? { session: undefined };
    this.#sessions.set(key, slot, { noUpdateTTL: true });
    return slot;
  }
}
