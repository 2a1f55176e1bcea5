import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { SendFailure } from '../send-failure.js';

/** CPU time that a piece of a handshake may take, in milliseconds; more is excess. Most pieces take 2 to 5. */
const USUAL_MS = 5;
/** Milliseconds that a tenant rests for each one of excess. So its excess takes at most a tenth of our thread. */
const REST_TIMES = 10;
/** Excess that costs a tenant no rest, in milliseconds: one P-521 piece under load, or work of ours charged by mistake. */
const FREE_MS = 40;
/** How long a costly tenant's new connections open on the second thread, in milliseconds. Once in this time it delays the others. */
const ISOLATED_MS = 600_000;
/** How long each handshake of a tenant reads in turn, in milliseconds. At half, the timer costs twice as much: 0.4 % of the thread. */
const TURN_MS = 5;
/** The longest record of TLS (RFC 8446 §5.1). */
const RECORD_BYTES = 16_384;
/** How often all connections are checked for floods, in milliseconds. One flood costs at most this much CPU time. */
const LOOK_EVERY_MS = 100;

/** No connection was opened because the tenant's handshakes rest. The endpoint is not at fault. */
export class ThrottledError extends SendFailure {
  constructor() {
    super('CONNECT', 'THROTTLED');
  }
}

/** A TLS connection of a tenant. Its TLS bytes are all that carry no HTTP: tickets, key updates, record headers. */
export class SecuredSocket {
  readonly tcp: Socket;
  readonly tls: TLSSocket;
  readonly tenant: TenantHandshakes;
  #mostBytes: number;

  /** `mostBytes`: TLS bytes that the endpoint may send in the handshake. */
  constructor(tcp: Socket, tls: TLSSocket, tenant: TenantHandshakes, mostBytes: number) {
    this.tcp = tcp;
    this.tls = tls;
    this.tenant = tenant;
    this.#mostBytes = mostBytes;
  }

  get #tlsBytes(): number {
    return this.tcp.bytesRead - this.tls.bytesRead;
  }

  /** Ends the connection when more TLS bytes came than allowed. `openBytes` of an unfinished record do not count; default one record. */
  endIfFlooded(openBytes = RECORD_BYTES): void {
    if (this.#tlsBytes > this.#mostBytes + openBytes) this.endAsFlood();
  }

  /** Allows this many further TLS bytes. */
  allow(bytes: number): void {
    this.#mostBytes = this.#tlsBytes + bytes;
  }

  /** Ends the connection. Its tenant rests for the CPU time that the flood may have taken before it was seen. */
  endAsFlood(): void {
    this.tenant.rest(LOOK_EVERY_MS);
    this.tenant.budget.pauseReading(this.tenant);
    this.tls.destroy(new SendFailure('PROTOCOL', 'TLS_FLOOD'));
  }

  /** Starts or stops reading on Node's own handle: streams do not read before the handshake has ended. */
  setReading(isReading: boolean): void {
    const { _handle } = this.tls as unknown as { _handle: Record<string, (() => void) | undefined> | null };
    _handle?.[isReading ? 'readStart' : 'readStop']?.();
  }
}

/** The handshakes of one tenant. They read one at a time, so that no turn of the event loop has two costly ones. */
export class TenantHandshakes {
  readonly budget: HandshakeBudget;
  readonly #id: string;
  /** In the order in which they read. */
  readonly #underWay = new Set<SecuredSocket>();
  #reader: SecuredSocket | undefined;
  #bytesBefore = 0;
  /** Whether a handshake ended since the last turn. */
  #hasEnded = false;
  #restsUntil = 0;
  #isolatedUntil = 0;

  constructor(budget: HandshakeBudget, id: string) {
    this.budget = budget;
    this.#id = id;
  }

  /** Whether the tenant is costly: its new connections open on the second thread. */
  get isIsolated(): boolean {
    return this.#isolatedUntil > performance.now();
  }

  /** How long the handshakes still rest, in milliseconds. They do not rest at 0 or less. */
  get restMs(): number {
    return this.#restsUntil - performance.now();
  }

  isUnderWay(socket: SecuredSocket): boolean {
    return this.#underWay.has(socket);
  }

  /** Adds a handshake, which reads when its turn comes. */
  add(socket: SecuredSocket): void {
    socket.setReading(false);
    this.#underWay.add(socket);
    if (this.#reader === undefined) this.#readNext();
  }

  /** Removes a handshake that has ended. */
  delete(socket: SecuredSocket): void {
    this.#underWay.delete(socket);
    if (socket !== this.#reader) return;
    this.#hasEnded = true;
    this.#readNext();
  }

  /**
   * Lets the next handshake read, so that an endpoint that sends nothing delays no other. The tenant rests for `excessMs` if one of its
   * handshakes has read since the last turn. Returns false when no handshake is under way.
   */
  takeTurn(excessMs: number): boolean {
    if (excessMs > 0 && this.hasRead) this.rest(excessMs);
    this.#hasEnded = false;
    this.#bytesBefore = this.#reader?.tcp.bytesRead ?? 0;
    if (this.#reader === undefined || this.#underWay.size > 1 || this.restMs > 0) this.#endTurn();
    return this.#underWay.size > 0;
  }

  /** Rests for an excess of CPU time, and isolates the tenant where there is a second thread. */
  rest(excessMs: number): void {
    const free = performance.now() - REST_TIMES * FREE_MS;
    this.#restsUntil = Math.max(this.#restsUntil, free) + REST_TIMES * excessMs;
    const { onIsolated } = this.budget;
    if (onIsolated === undefined || this.restMs <= 0) return;
    if (!this.isIsolated) onIsolated(this.#id);
    this.#isolatedUntil = performance.now() + ISOLATED_MS;
    for (const { tls } of this.#underWay) tls.destroy(new ThrottledError());
  }

  /** Whether a handshake has received bytes since the last turn. */
  get hasRead(): boolean {
    return this.#hasEnded || (this.#reader?.tcp.bytesRead ?? 0) > this.#bytesBefore;
  }

  #endTurn(): void {
    const reader = this.#reader;
    reader?.setReading(false);
    if (reader !== undefined && this.#underWay.delete(reader)) this.#underWay.add(reader);
    this.#readNext();
  }

  #readNext(): void {
    const [next] = this.#underWay;
    this.#reader = this.restMs > 0 ? undefined : next;
    this.#bytesBefore = next?.tcp.bytesRead ?? 0;
    this.#reader?.setReading(true);
  }
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Finds the tenants whose handshakes hold up the event loop. OpenSSL computes before our code runs, so it reads the thread's CPU time
 * every few milliseconds while handshakes are under way. Time that other processes have the core does not count. All tenants that
 * have read meanwhile share the excess, so that none is lost and another's excess seldom makes a tenant costly.
 */
export class HandshakeBudget {
  readonly onIsolated: ((tenantId: string) => void) | undefined;
  readonly #tenants: LRUCache<string, TenantHandshakes>;
  /** Tenants with handshakes under way. */
  readonly #active = new Set<TenantHandshakes>();
  readonly #open = new Set<SecuredSocket>();
  readonly #looking = setInterval(() => {
    for (const socket of this.#open) socket.endIfFlooded();
  }, LOOK_EVERY_MS).unref();
  #turn: NodeJS.Timeout | undefined;
  /** Excess of all pieces since the last turn. */
  #excessMs = 0;
  #readMs = 0;

  /** `onIsolated` is called with each tenant that becomes costly. Undefined: there is no second thread, and its handshakes only rest. */
  constructor(maxTenants: number, onIsolated?: (tenantId: string) => void) {
    this.onIsolated = onIsolated;
    this.#tenants = new LRUCache({ max: maxTenants, memoMethod: (id) => new TenantHandshakes(this, id) });
  }

  /** Connections that are open or being secured. */
  get connections(): number {
    return this.#open.size;
  }

  of(tenantId: string): TenantHandshakes {
    return this.#tenants.memo(tenantId);
  }

  /** Measures a handshake from its beginning until `ended` settles. */
  async measure(socket: SecuredSocket, ended: Promise<void>): Promise<void> {
    const { tenant } = socket;
    this.#open.add(socket);
    socket.tls.once('close', () => this.#open.delete(socket));
    this.#active.add(tenant);
    if (this.#turn === undefined) {
      this.#readMs = cpuMs();
      this.#chargeLater();
    }
    // Node itself begins to read in this tick.
    process.nextTick(() => tenant.add(socket));
    await ended.finally(() => tenant.delete(socket));
  }

  /** Reads from no open connection of the tenant while it rests, so that a turn of the event loop has one flood at most. */
  pauseReading(tenant: TenantHandshakes): void {
    const isPaused = (socket: SecuredSocket): boolean =>
      socket.tenant === tenant && !tenant.isUnderWay(socket);
    const sockets = [...this.#open].filter(isPaused);
    for (const socket of sockets) socket.setReading(false);
    const readOn = (): void => {
      if (tenant.restMs > 0) setTimeout(readOn, tenant.restMs).unref();
      else for (const socket of sockets) socket.setReading(true);
    };
    readOn();
  }

  /** Call it after each piece of other work, so that the work of many attempts is not charged to one handshake. */
  readCpu(): void {
    // The reading costs a microsecond and is not needed while no handshake is under way.
    if (this.#turn === undefined) return;
    const before = this.#readMs;
    this.#readMs = cpuMs();
    this.#excessMs += Math.max(0, this.#readMs - before - USUAL_MS);
  }

  close(): void {
    clearInterval(this.#looking);
  }

  #chargeLater(): void {
    this.#excessMs = 0;
    this.#turn = setTimeout(() => this.#chargeTurn(), TURN_MS).unref();
  }

  #chargeTurn(): void {
    this.readCpu();
    // Which of their handshakes computed is unknown, so they share.
    const readers = [...this.#active].filter(({ hasRead }) => hasRead).length;
    for (const tenant of this.#active)
      if (!tenant.takeTurn(this.#excessMs / readers)) this.#active.delete(tenant);
    this.#turn = undefined;
    if (this.#active.size > 0) this.#chargeLater();
  }
}
