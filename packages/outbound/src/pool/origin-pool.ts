import type { Attempt } from './attempt.js';
import { Connection, type ConnectionLimits } from './connection.js';
import type { GuardedConnect, SessionSlot } from '../guard/guarded-connector.js';
import type { TenantHandshakes, HandshakeBudget } from '../guard/handshake-budget.js';
import { EGRESS_PROXY, toConnectFailure, type SendFailure } from '../send-failure.js';
import { LRUCache } from 'lru-cache';
import type { ClientPair } from '@webhooks/contracts';
import type { EndpointCertificate } from './exchange.js';

export interface PoolLimits extends ConnectionLimits {
  /**
   * Concurrent handshakes (resolving, connecting, TLS) to one origin; default 8. While the pool has fewer
   * connections, no attempt waits for a used one.
   */
  readonly handshakesPerOrigin: number;
  /** How long an attempt waits for a used connection before another is opened, milliseconds; default 50. */
  readonly usedConnectionMs: number;
  /**
   * A connection older than this closes after its attempt, milliseconds; default 300,000. So changed DNS answers
   * take effect.
   */
  readonly maxConnectionAgeMs: number;
  /**
   * Idle connections over all origins; default 2,048. Beyond it the connection that has been idle longest is closed.
   * Every other connection carries an attempt, so this bounds descriptors and memory.
   */
  readonly maxIdleConnections: number;
}

/** The dependencies of a pool. */
interface PoolPorts {
  readonly connect: GuardedConnect;
  readonly tenant: TenantHandshakes;
  readonly limits: PoolLimits;
  /** The idle connections of all pools, longest idle first. */
  readonly idle: Set<Connection>;
  /** Returns the slot for the latest TLS session of a verified connection. */
  readonly session: () => SessionSlot;
  /** Called when the pool has no connection and no attempt left. */
  readonly onEmpty: () => void;
}

/**
 * The connections of one tenant to one origin. Each carries one attempt at a time; the most recently used one is
 * taken first. Tenants share none, because a late or duplicate response would be taken for the response to the
 * connection's next attempt.
 *
 * An attempt without a connection waits, and a few handshakes are started for waiting attempts. The first free
 * connection, new or used, takes the attempt that has waited longest. undici's Pool would open a second connection
 * while the first one is about to be free. That doubles the connections of a busy endpoint and costs a third more
 * CPU time.
 */
class OriginPool {
  readonly #url: URL;
  readonly #ports: PoolPorts;
  readonly #connections = new Set<Connection>();
  readonly #free: Connection[] = [];
  /** Attempts without a connection, longest waiting first. */
  readonly #waiting: Attempt[] = [];
  readonly #handshakes = new Set<Promise<void>>();
  /** Attempts that run or wait in this pool. */
  #busy = 0;
  #checkTimer: NodeJS.Timeout | undefined = undefined;

  constructor(origin: string, ports: PoolPorts) {
    this.#url = new URL(origin);
    this.#ports = ports;
  }

  get isPaused(): boolean {
    return this.#ports.tenant.pauseLeftMs > 0;
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

  /**
   * Runs an attempt again whose connection ended before the first byte of the response. It takes the next fresh
   * connection.
   */
  startAgain(attempt: Attempt): void {
    this.#waiting.unshift(attempt);
    this.#open();
  }

  /** Removes an attempt that has ended. A connection that carried it to its end is offered to the next one. */
  release(attempt: Attempt): void {
    this.#busy -= 1;
    const { connection } = attempt;
    const bornAfter = performance.now() - this.#ports.limits.maxConnectionAgeMs;
    if (connection === undefined) remove(this.#waiting, attempt);
    else if (attempt.reusable && connection.openedAt > bornAfter) this.#offer(connection, false);
    else connection.discard();
    this.#openOrEnd();
  }

  /** Must be called when no attempt is left. Resolves when all handshakes have ended. Closes all connections. */
  async close(): Promise<void> {
    await Promise.all(this.#handshakes);
    for (const connection of this.#connections) connection.discard();
  }

  #openOrEnd(): void {
    this.#open();
    if (this.#busy + this.#connections.size + this.#handshakes.size === 0) this.#ports.onEmpty();
  }

  /** Starts handshakes for waiting attempts, within the bounds. */
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
   * Whether the longest waiting attempt has waited long enough for a used connection. If not, a timer checks again.
   * A used connection is free within milliseconds; a new one costs both sides as much as ten posts.
   */
  #haveWaited(): boolean {
    const since = this.#waiting[0]?.startedAt ?? Infinity;
    const leftMs = since + this.#ports.limits.usedConnectionMs - performance.now();
    if (leftMs > 0) this.#checkIn(leftMs);
    return leftMs <= 0;
  }

  #checkIn(ms: number): void {
    this.#checkTimer ??= setTimeout(() => {
      this.#checkTimer = undefined;
      this.#open();
    }, ms).unref();
  }

  #handshake(): void {
    const handshake = this.#connect().then(
      (connection) => this.#offer(connection, true),
      (error: unknown) => this.#failWaiting(toConnectFailure(error)),
    );
    const ended = handshake.then(() => {
      this.#handshakes.delete(ended);
      this.#openOrEnd();
    });
    this.#handshakes.add(ended);
  }

  /**
   * A failed handshake fails the attempt that has waited longest. A fault of the egress proxy fails all: at their
   * deadlines the endpoint would be blamed.
   */
  #failWaiting(failure: SendFailure): void {
    const count = failure.reasonCode === EGRESS_PROXY ? this.#waiting.length : 1;
    for (const attempt of this.#waiting.splice(0, count)) attempt.fail(failure);
  }

  async #connect(): Promise<Connection> {
    const { connect, session, tenant, limits } = this.#ports;
    const socket = await connect(this.#url, session(), tenant);
    if (!socket.tls.writable) throw toConnectFailure({ code: 'ECONNRESET' });
    const connection = new Connection(this.#url.origin, socket, limits, (ended) => this.#forget(ended));
    this.#connections.add(connection);
    return connection;
  }

  /** Passes the connection to the longest waiting attempt that can use it. `isFresh`: it has carried no request yet. */
  #offer(connection: Connection, isFresh: boolean): void {
    while (!connection.isGone) {
      const at = this.#waiting.findIndex(({ needsFresh }) => isFresh || !needsFresh);
      if (at < 0) return this.#addIdle(connection);
      const [attempt] = this.#waiting.splice(at, 1);
      if (attempt?.run(connection, isFresh) === true) return;
    }
  }

  #addIdle(connection: Connection): void {
    this.#free.push(connection);
    const { idle, limits } = this.#ports;
    idle.add(connection);
    if (idle.size > limits.maxIdleConnections) for (const longest of idle) return longest.discard();
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    remove(this.#free, connection);
    this.#ports.idle.delete(connection);
    this.#openOrEnd();
  }
}

function remove<T>(list: T[], member: T): void {
  const at = list.indexOf(member);
  if (at >= 0) list.splice(at, 1);
}

/** The pools by tenant, origin and client certificate. Empty pools are dropped. */
export class OriginPools {
  readonly #pools = new Map<string, OriginPool>();
  readonly #connectWith: (client?: ClientPair) => GuardedConnect;
  readonly #budget: HandshakeBudget;
  #ports: Omit<PoolPorts, 'session' | 'tenant' | 'onEmpty'>;
  /** Part of a pool's key, which changes with the sender's client certificate. */
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
    // A resumed session presents no certificate, so it is used no longer than a connection. Each takes a few KiB.
    this.#sessions = new LRUCache({ max: limits.maxIdleConnections, ttl: limits.maxConnectionAgeMs });
  }

  get size(): number {
    return this.#pools.size;
  }

  /** Returns the pool, creating it if needed. `own`: the endpoint's certificate, presented instead of the sender's. */
  of(tenantId: string, origin: string, own?: EndpointCertificate): OriginPool {
    const key = `${tenantId} ${origin}${own === undefined ? this.#suffix : ` ${own.fingerprint}`}`;
    return this.#pools.get(key) ?? this.#create(key, origin, tenantId, own);
  }

  /**
   * Presents another client certificate in new pools. Old pools keep theirs and are dropped when they are empty. So
   * no connection and no session passes from one certificate to another.
   */
  present(client: ClientPair): void {
    this.#ports = { ...this.#ports, connect: this.#connectWith(client) };
    this.#suffix += '*';
  }

  /** Must be called when no attempt is in flight. Resolves when all handshakes have ended. Closes all connections. */
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
