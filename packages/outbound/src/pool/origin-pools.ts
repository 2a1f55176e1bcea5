import { LRUCache } from 'lru-cache';
import type { Connection } from '../connection.js';
import type { GuardedConnect, SessionSlot } from '../guarded-connector.js';
import type { HandshakeBudget } from '../handshake-budget.js';
import { OriginPool } from './origin-pool.js';
import type { PoolLimits, PoolPorts } from './origin-pool.js';
import type { ClientPair, EndpointCertificate } from '../send-request.js';

/** The pools by tenant, origin and client certificate; one that is empty is dropped. */
export class OriginPools {
  readonly #pools = new Map<string, OriginPool>();
  readonly #connectWith: (client?: ClientPair) => GuardedConnect;
  readonly #budget: HandshakeBudget;
  #ports: Omit<PoolPorts, 'session' | 'tenant' | 'onEmpty'>;
  /** Tells the pools of the sender's client certificate from those of the one before it. */
  #suffix = '';
  readonly #sessions: LRUCache<string, SessionSlot>;

  constructor(
    connectWith: (client?: ClientPair) => GuardedConnect,
    limits: PoolLimits,
    client: ClientPair | undefined,
    budget: HandshakeBudget,
  ) {
    this.#connectWith = connectWith;
    this.#budget = budget;
    this.#ports = { connect: connectWith(client), limits, idle: new Set<Connection>() };
    // No longer than a connection is used: a resumed session shows no certificate. A few KiB each.
    this.#sessions = new LRUCache({ max: limits.maxIdleConnections, ttl: limits.maxConnectionAgeMs });
  }

  get size(): number {
    return this.#pools.size;
  }

  /** `own`: presented there in place of the sender's. */
  of(tenantId: string, origin: string, own?: EndpointCertificate): OriginPool {
    const key = `${tenantId} ${origin}${own === undefined ? this.#suffix : ` ${own.fingerprint}`}`;
    return this.#pools.get(key) ?? this.#create(key, origin, tenantId, own);
  }

  /**
   * From now on, with another client certificate. The pools before keep their way, and end by themselves once nobody posts to them;
   * so neither connections nor sessions, which are kept by pool, pass from one certificate to another.
   */
  present(client: ClientPair): void {
    this.#ports = { ...this.#ports, connect: this.#connectWith(client) };
    this.#suffix += '*';
  }

  /** Once no attempt is under way: resolves when all connections are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  #create(key: string, origin: string, tenantId: string, own: EndpointCertificate | undefined): OriginPool {
    const pool = new OriginPool(origin, {
      ...this.#ports,
      tenant: this.#budget.of(tenantId),
      ...(own === undefined ? {} : { connect: this.#connectWith(own) }),
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
