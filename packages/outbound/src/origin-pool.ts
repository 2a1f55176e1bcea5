import type { Attempt } from './attempt.js';
import { Connection, type ConnectionLimits } from './connection.js';
import type { GuardedConnect, SessionSlot } from './guarded-connector.js';
import type { TenantHandshakes, HandshakeBudget } from './handshake-budget.js';
import { toConnectFailure } from './send-failure.js';
import { LRUCache } from 'lru-cache';
import type { ClientPair, EndpointCertificate } from './exchange.js';

export interface PoolLimits extends ConnectionLimits {
  /** Handshakes (resolving, connecting, TLS) to one origin at once, default 8; until there are as many connections nobody waits for a used one. */
  readonly handshakesPerOrigin: number;
  /** How long an attempt waits for a used connection then before another is opened for it, milliseconds, default 50. */
  readonly usedConnectionMs: number;
  /** A connection that ends an attempt after this time, milliseconds, is closed, so that a changed DNS answer is noticed under constant traffic; default 300,000. */
  readonly maxConnectionAgeMs: number;
  /**
   * Idle connections over all origins, default 2,048; above it the one that has been idle longest is closed. With those
   * in use, of which each carries an attempt, this bounds the descriptors and the memory that connections take.
   */
  readonly maxIdleConnections: number;
}

/** What a pool is made of. */
interface PoolPorts {
  readonly connect: GuardedConnect;
  readonly tenant: TenantHandshakes;
  readonly limits: PoolLimits;
  /** The idle connections of all pools, the one that has been idle longest first. */
  readonly idle: Set<Connection>;
  /** Where the newest TLS session of a verified connection is kept. */
  readonly session: () => SessionSlot;
  /** It has no connection and no attempt. */
  readonly onEmpty: () => void;
}

/**
 * The connections of one tenant to one origin: one attempt on each at a time, the one used last taken first. Not shared among tenants:
 * a response that comes late, or twice, is taken for that of the next attempt on its connection.
 * An attempt without a connection waits; handshakes are begun for those who wait, a few at a time, and what becomes
 * free first — a new connection or a used one — takes whoever waits longest.
 * undici's own Pool opens a second connection whenever the first has answered but not yet turned round, which doubles
 * the connections of a busy endpoint and cost a third more CPU time when measured; here the next attempt queues on it.
 */
class OriginPool {
  readonly #url: URL;
  readonly #ports: PoolPorts;
  readonly #connections = new Set<Connection>();
  readonly #free: Connection[] = [];
  /** Longest first. */
  readonly #waiting: Attempt[] = [];
  readonly #handshakes = new Set<Promise<void>>();
  /** Attempts that run or wait here. */
  #busy = 0;
  #looking: NodeJS.Timeout | undefined = undefined;

  /** Throws when `origin` is no URL, or one with more than scheme, host and port. */
  constructor(origin: string, ports: PoolPorts) {
    this.#url = parseOrigin(origin);
    this.#ports = ports;
  }

  get isResting(): boolean {
    return this.#ports.tenant.restMs > 0;
  }

  start(attempt: Attempt): void {
    this.#busy += 1;
    const connection = this.#free.pop();
    if (connection !== undefined) {
      this.#ports.idle.delete(connection);
      if (!attempt.run(connection, false)) this.#offer(connection, false);
      return;
    }
    this.#waiting.push(attempt);
    this.#open();
  }

  /** Its connection ended without a byte of the response: it takes the next fresh one. */
  startAgain(attempt: Attempt): void {
    this.#waiting.unshift(attempt);
    this.#open();
  }

  /** The attempt has ended, in whatever way; a connection that carried it to the end is free for the next one. */
  release(attempt: Attempt): void {
    this.#busy -= 1;
    const { connection } = attempt;
    const bornAfter = performance.now() - this.#ports.limits.maxConnectionAgeMs;
    if (connection === undefined) remove(this.#waiting, attempt);
    else if (attempt.reusable && connection.openedAt > bornAfter) this.#offer(connection, false);
    else connection.discard();
    this.#goOn();
  }

  /** Once no attempt is here any more: resolves when all handshakes have ended, and all connections are closed. */
  async close(): Promise<void> {
    await Promise.all(this.#handshakes);
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  #goOn(): void {
    this.#open();
    if (this.#busy + this.#connections.size + this.#handshakes.size === 0) this.#ports.onEmpty();
  }

  /** Begins handshakes for those who wait, as far as the bounds allow. */
  #open(): void {
    while (this.#needsMore()) this.#handshake();
  }

  #needsMore(): boolean {
    const { handshakesPerOrigin } = this.#ports.limits;
    const underWay = this.#handshakes.size;
    if (underWay >= Math.min(this.#waiting.length, handshakesPerOrigin)) return false;
    return this.#connections.size + underWay < handshakesPerOrigin || this.#haveWaited();
  }

  /**
   * Whether whoever waits longest has waited long enough for a used connection; else it is looked at again. A used one is free
   * within milliseconds, a new one costs both sides as much as ten posts: after a pause of ours hundreds of attempts start at once.
   */
  #haveWaited(): boolean {
    const since = this.#waiting[0]?.startedAt ?? Infinity;
    const leftMs = since + this.#ports.limits.usedConnectionMs - performance.now();
    if (leftMs > 0) this.#lookIn(leftMs);
    return leftMs <= 0;
  }

  #lookIn(ms: number): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      this.#open();
    }, ms).unref();
  }

  /** One that fails is the failure of whoever waits longest then. */
  #handshake(): void {
    const handshake = this.#connect().then(
      (connection) => this.#offer(connection, true),
      (error: unknown) => this.#waiting.shift()?.fail(toConnectFailure(error)),
    );
    const ended = handshake.then(() => {
      this.#handshakes.delete(ended);
      this.#goOn();
    });
    this.#handshakes.add(ended);
  }

  async #connect(): Promise<Connection> {
    const { connect, session, tenant, limits } = this.#ports;
    const socket = await connect(this.#url, session(), tenant);
    if (!socket.tls.writable) throw toConnectFailure({ code: 'ECONNRESET' });
    const connection = new Connection(this.#url.origin, socket, limits, (gone) => this.#forget(gone));
    this.#connections.add(connection);
    return connection;
  }

  /** For whoever waits longest for one like it. `isFresh`: it carried nothing yet. */
  #offer(connection: Connection, isFresh: boolean): void {
    while (!connection.isGone) {
      const at = this.#waiting.findIndex(({ needsFresh }) => isFresh || !needsFresh);
      if (at < 0) return this.#keep(connection);
      const [attempt] = this.#waiting.splice(at, 1);
      if (attempt?.run(connection, isFresh) === true) return;
    }
  }

  #keep(connection: Connection): void {
    this.#free.push(connection);
    const { idle, limits } = this.#ports;
    idle.add(connection);
    if (idle.size > limits.maxIdleConnections) for (const longest of idle) return longest.discard();
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    remove(this.#free, connection);
    this.#ports.idle.delete(connection);
    this.#goOn();
  }
}

function parseOrigin(origin: string): URL {
  const url = new URL(origin);
  const rest = url.pathname.slice(1) + url.search + url.hash + url.username + url.password;
  if (rest !== '') throw new Error('expected an origin of scheme, host and port, and nothing more');
  return url;
}

function remove<T>(list: T[], member: T): void {
  const at = list.indexOf(member);
  if (at >= 0) list.splice(at, 1);
}

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
