import type { Attempt } from './attempt.js';
import { Connection, type ConnectionLimits } from './connection.js';
import type { GuardedConnect, SessionSlot } from '../guard/guarded-connector.js';
import type { TenantHandshakes, HandshakeBudget } from '../guard/handshake-budget.js';
import { toConnectFailure } from '../send-failure.js';
import { LRUCache } from 'lru-cache';
import type { ClientPair } from '@webhooks/contracts';
import type { EndpointCertificate } from './exchange.js';

export interface PoolLimits extends ConnectionLimits {
  /** Handshakes (resolving, connecting, TLS) to one origin at once; default 8. With fewer connections no attempt waits for a used one. */
  readonly handshakesPerOrigin: number;
  /** How long an attempt waits for a used connection before another is opened, in milliseconds; default 50. */
  readonly usedConnectionMs: number;
  /** A connection older than this closes after its attempt, in milliseconds; default 300,000. So a changed DNS answer is noticed. */
  readonly maxConnectionAgeMs: number;
  /**
   * Idle connections over all origins; default 2,048. Beyond it the one idle for longest is closed. Each other connection carries an
   * attempt, so this bounds descriptors and memory.
   */
  readonly maxIdleConnections: number;
}

/** What a pool needs. */
interface PoolPorts {
  readonly connect: GuardedConnect;
  readonly tenant: TenantHandshakes;
  readonly limits: PoolLimits;
  /** The idle connections of all pools, longest idle first. */
  readonly idle: Set<Connection>;
  /** Where the newest TLS session of a verified connection is kept. */
  readonly session: () => SessionSlot;
  /** Called when the pool has no connection and no attempt. */
  readonly onEmpty: () => void;
}

/**
 * The connections of one tenant to one origin. Each carries one attempt at a time; the last used one is taken first. Tenants share
 * none, because a response that comes late or twice is taken for the next attempt's on its connection.
 *
 * An attempt without a connection waits, and a few handshakes begin for those that wait. The first free connection, new or used, takes
 * the attempt that has waited longest. undici's own Pool opens a second connection while the first one turns round. That doubles the
 * connections of a busy endpoint and costs a third more CPU time.
 */
class OriginPool {
  readonly #url: URL;
  readonly #ports: PoolPorts;
  readonly #connections = new Set<Connection>();
  readonly #free: Connection[] = [];
  /** Longest waiting first. */
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

  /** Runs an attempt again whose connection ended before a byte of the response. It takes the next fresh connection. */
  startAgain(attempt: Attempt): void {
    this.#waiting.unshift(attempt);
    this.#open();
  }

  /** The attempt has ended. A connection that carried it to its end is free for the next one. */
  release(attempt: Attempt): void {
    this.#busy -= 1;
    const { connection } = attempt;
    const bornAfter = performance.now() - this.#ports.limits.maxConnectionAgeMs;
    if (connection === undefined) remove(this.#waiting, attempt);
    else if (attempt.reusable && connection.openedAt > bornAfter) this.#offer(connection, false);
    else connection.discard();
    this.#goOn();
  }

  /** Call it when no attempt is left. Resolves when all handshakes have ended and all connections are closed. */
  async close(): Promise<void> {
    await Promise.all(this.#handshakes);
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  #goOn(): void {
    this.#open();
    if (this.#busy + this.#connections.size + this.#handshakes.size === 0) this.#ports.onEmpty();
  }

  /** Begins handshakes for waiting attempts, within the bounds. */
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
   * Whether the longest waiting attempt has waited long enough for a used connection; otherwise it is checked again later. A used one
   * is free within milliseconds; a new one costs both sides as much as ten posts.
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

  /** A failed handshake fails the attempt that has waited longest. */
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
    const connection = new Connection(this.#url.origin, socket, limits, (ended) => this.#forget(ended));
    this.#connections.add(connection);
    return connection;
  }

  /** Gives the connection to the longest waiting attempt that can use it. `isFresh`: it has carried nothing yet. */
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
    // A resumed session shows no certificate, so it is used no longer than a connection. Each takes a few KiB.
    this.#sessions = new LRUCache({ max: limits.maxIdleConnections, ttl: limits.maxConnectionAgeMs });
  }

  get size(): number {
    return this.#pools.size;
  }

  /** `own`: the endpoint's certificate, presented in place of the sender's. */
  of(tenantId: string, origin: string, own?: EndpointCertificate): OriginPool {
    const key = `${tenantId} ${origin}${own === undefined ? this.#suffix : ` ${own.fingerprint}`}`;
    return this.#pools.get(key) ?? this.#create(key, origin, tenantId, own);
  }

  /**
   * Presents another client certificate in new pools. The old pools keep theirs and end when nobody posts to them. So no connection and
   * no session passes from one certificate to another.
   */
  present(client: ClientPair): void {
    this.#ports = { ...this.#ports, connect: this.#connectWith(client) };
    this.#suffix += '*';
  }

  /** Call it when no attempt is under way. Resolves when all connections are closed. */
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
