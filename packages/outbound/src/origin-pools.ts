import { Pool } from 'undici';
import type { buildConnector } from 'undici';

export interface PoolLimits {
  /** Connections to one origin; a further attempt waits for a free one within its own deadline. */
  readonly connectionsPerOrigin: number;
  /** Pools kept; above it the idle ones used longest ago are closed. Busy ones are never closed, so more can exist for a while. */
  readonly maxPools: number;
  /** A pool without traffic for so long is closed. */
  readonly idlePoolMs: number;
  /** A pool is replaced after this time, so that a changed DNS answer is noticed under constant traffic, too. */
  readonly maxPoolAgeMs: number;
  /** An idle connection is closed after this time unless the endpoint names another one in `Keep-Alive`. */
  readonly keepAliveMs: number;
  /** Bytes of the answer's header block. */
  readonly headerLimitBytes: number;
}

export interface OriginPool {
  readonly origin: string;
  readonly pool: Pool;
  readonly bornAt: number;
  busy: number;
  lastUsedAt: number;
}

/** The pools by origin. Whoever takes one gives it back. */
export class OriginPools {
  readonly #pools = new Map<string, OriginPool>();
  readonly #closing = new Set<Promise<void>>();
  readonly #connector: buildConnector.connector;
  readonly #limits: PoolLimits;
  readonly #sweeper: NodeJS.Timeout;

  constructor(connector: buildConnector.connector, limits: PoolLimits) {
    this.#connector = connector;
    this.#limits = limits;
    const everyMs = Math.max(50, Math.min(5_000, limits.idlePoolMs / 4, limits.maxPoolAgeMs / 4));
    this.#sweeper = setInterval(() => this.#sweep(), everyMs).unref();
  }

  get size(): number {
    return this.#pools.size;
  }

  take(origin: string, now: number): OriginPool {
    const pool = this.#pools.get(origin) ?? this.#open(origin, now);
    pool.busy += 1;
    return pool;
  }

  giveBack(pool: OriginPool, now: number): void {
    pool.busy -= 1;
    pool.lastUsedAt = now;
  }

  /** Closes all of them once what they carry has ended. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    for (const pool of this.#pools.values()) this.#retire(pool);
    await Promise.all(this.#closing);
  }

  #open(origin: string, now: number): OriginPool {
    if (this.#pools.size >= this.#limits.maxPools) this.#evictIdle();
    const pool = new Pool(origin, {
      connect: this.#connector,
      connections: this.#limits.connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      // The attempt's own deadline covers both; undici's timers would cost two more for each request.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: this.#limits.headerLimitBytes,
      keepAliveTimeout: this.#limits.keepAliveMs,
      keepAliveMaxTimeout: Math.max(this.#limits.keepAliveMs, 60_000),
    });
    const entry = { origin, pool, bornAt: now, busy: 0, lastUsedAt: now };
    this.#pools.set(origin, entry);
    return entry;
  }

  /** One pass over the pools for an eighth of them, so that a flood of new origins does not pay a pass each. */
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

  /** Takes no new request; running ones end by themselves, at their deadline at the latest. */
  #retire(entry: OriginPool): void {
    this.#pools.delete(entry.origin);
    const closing = entry.pool.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
