import { OriginPool } from './origin-pool.js';
import type { OriginLimits, PoolPorts } from './origin-pool.js';

export interface PoolLimits extends OriginLimits {
  /**
   * Pools that are kept; above it the idle ones used longest ago are closed. Busy ones are never
   * closed, so there are at most `maxPools` or as many as there are attempts in flight, whichever is more:
   * above the bound a pool is closed as soon as its last attempt has ended.
   */
  readonly maxPools: number;
  /** A pool without traffic for so long is closed. */
  readonly idlePoolMs: number;
  /** A pool is replaced after this time, so that a changed DNS answer is noticed under constant traffic, too. */
  readonly maxPoolAgeMs: number;
}

/** The pools by tenant and origin. */
export class OriginPools {
  readonly #pools = new Map<string, OriginPool>();
  readonly #closing = new Set<Promise<void>>();
  readonly #ports: PoolPorts;
  readonly #limits: PoolLimits;
  readonly #sweeper: NodeJS.Timeout;

  constructor(ports: Omit<PoolPorts, 'onEnd'> & { readonly limits: PoolLimits }) {
    this.#ports = { ...ports, onEnd: (pool) => this.#onEnd(pool) };
    this.#limits = ports.limits;
    const { limits } = ports;
    const everyMs = Math.max(20, Math.min(5_000, limits.idlePoolMs / 4, limits.maxPoolAgeMs / 4));
    this.#sweeper = setInterval(() => this.#sweep(), everyMs).unref();
  }

  get size(): number {
    return this.#pools.size;
  }

  of(tenantId: string, origin: string, now: number): OriginPool {
    const key = `${tenantId} ${origin}`;
    return this.#pools.get(key) ?? this.#open(key, origin, now);
  }

  /** An attempt of this pool has ended. */
  #onEnd(pool: OriginPool): void {
    const above = this.#pools.size > this.#limits.maxPools;
    if (above && pool.busy === 0 && this.#pools.get(pool.key) === pool) this.#retire(pool);
  }

  /** Closes all of them once what they carry has ended. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    for (const pool of this.#pools.values()) this.#retire(pool);
    await Promise.all(this.#closing);
  }

  #open(key: string, origin: string, now: number): OriginPool {
    if (this.#pools.size >= this.#limits.maxPools) this.#evictIdle();
    const pool = new OriginPool(key, origin, { ports: this.#ports, now });
    this.#pools.set(key, pool);
    return pool;
  }

  /** An eighth of the bound in one pass, so that a flood of new origins does not pay a pass each. */
  #evictIdle(): void {
    const idle = [...this.#pools.values()].filter(({ busy }) => busy === 0);
    idle.sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    for (const pool of idle.slice(0, Math.ceil(this.#limits.maxPools / 8))) this.#retire(pool);
  }

  #sweep(): void {
    const now = performance.now();
    for (const pool of this.#pools.values()) {
      const idle = pool.busy === 0 && now - pool.lastUsedAt >= this.#limits.idlePoolMs;
      if (idle || now - pool.bornAt >= this.#limits.maxPoolAgeMs) this.#retire(pool);
    }
  }

  #retire(pool: OriginPool): void {
    this.#pools.delete(pool.key);
    const closing = pool.retire().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
