import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { SendFailure } from '../send-failure.js';

/** CPU time that one step of a handshake may take, milliseconds; more is excess. Most steps take 2 to 5. */
const USUAL_MS = 5;
/**
 * Milliseconds that a tenant's handshakes pause for each millisecond of excess. So its excess takes at most a tenth
 * of this thread.
 */
const PAUSE_FACTOR = 10;
/**
 * Excess that causes no pause, milliseconds: one P-521 step under load, or CPU time of other work charged by
 * mistake.
 */
const FREE_MS = 40;
/**
 * How long a costly tenant's new connections open on the second thread, milliseconds. When it is
 * over, the tenant can delay the others once before it is isolated again.
 */
const ISOLATED_MS = 600_000;
/**
 * How long each handshake of a tenant reads before the next one's turn, milliseconds. At half, the timer costs twice
 * as much: 0.4 % of the thread.
 */
const TURN_MS = 5;
/** TLS bytes that an endpoint may send during a handshake: its certificate chain, above all. */
const HANDSHAKE_BYTES = 65_536;
/** The longest TLS record (RFC 8446 §5.1). */
const RECORD_BYTES = 16_384;
/** How often all connections are checked for floods, milliseconds. One flood costs at most this much CPU time. */
const FLOOD_CHECK_MS = 100;

/** No connection was opened because the tenant's handshakes are paused. The endpoint is not at fault. */
export class ThrottledError extends SendFailure {
  constructor() {
    super('CONNECT', 'THROTTLED');
  }
}

/**
 * A TLS connection of a tenant. Its TLS bytes are all received bytes that carry no HTTP: tickets, key updates,
 * record headers.
 */
export class SecuredSocket {
  readonly tcp: Socket;
  readonly tls: TLSSocket;
  readonly tenant: TenantHandshakes;
  #ticketBytes: number;
  #mostBytes: number;

  /** `ticketBytes`: see `Guard`. */
  constructor(tcp: Socket, tls: TLSSocket, tenant: TenantHandshakes, ticketBytes: number) {
    this.tcp = tcp;
    this.tls = tls;
    this.tenant = tenant;
    this.#ticketBytes = ticketBytes;
    // So far only the head of the proxy's response has been read.
    this.#mostBytes = tcp.bytesRead + HANDSHAKE_BYTES;
  }

  get #tlsBytes(): number {
    return this.tcp.bytesRead - this.tls.bytesRead;
  }

  /**
   * Ends the connection when more TLS bytes arrived than allowed. `openBytes` of an incomplete record do not count;
   * default: one record.
   */
  endIfFlooded(openBytes = RECORD_BYTES): void {
    if (this.#tlsBytes > this.#mostBytes + openBytes) this.endAsFlood();
  }

  /** Allows this many further TLS bytes; the first time, tickets with the client's certificate chain besides. */
  allow(bytes: number): void {
    this.#mostBytes = this.#tlsBytes + bytes + this.#ticketBytes;
    this.#ticketBytes = 0;
  }

  /**
   * Ends the connection. Its tenant's handshakes pause for the CPU time that the flood may have taken before it was
   * noticed.
   */
  endAsFlood(): void {
    this.tenant.pause(FLOOD_CHECK_MS);
    this.tenant.budget.pauseReading(this.tenant);
    this.tls.destroy(new SendFailure('PROTOCOL', 'TLS_FLOOD'));
  }

  /** Starts or stops reading on Node's handle: streams do not control reading before the handshake has ended. */
  setReading(isReading: boolean): void {
    const { _handle } = this.tls as unknown as { _handle: Record<string, (() => void) | undefined> | null };
    _handle?.[isReading ? 'readStart' : 'readStop']?.();
  }
}

/** The handshakes of one tenant. Only one at a time reads, so that no turn of the event loop has two costly ones. */
export class TenantHandshakes {
  readonly budget: HandshakeBudget;
  readonly #id: string;
  /** Handshakes in progress, in the order in which they read. */
  readonly #inProgress = new Set<SecuredSocket>();
  #reader: SecuredSocket | undefined;
  #bytesBefore = 0;
  /** Whether a handshake ended since the last turn. */
  #hasEnded = false;
  #pausedUntil = 0;
  #isolatedUntil = 0;

  constructor(budget: HandshakeBudget, id: string) {
    this.budget = budget;
    this.#id = id;
  }

  /** Whether the tenant is costly: its new connections open on the second thread. */
  get isIsolated(): boolean {
    return this.#isolatedUntil > performance.now();
  }

  /** How long the handshakes are still paused, milliseconds; 0 or less when they are not. */
  get pauseLeftMs(): number {
    return this.#pausedUntil - performance.now();
  }

  isInProgress(socket: SecuredSocket): boolean {
    return this.#inProgress.has(socket);
  }

  /** Adds a handshake. It reads when its turn comes. */
  add(socket: SecuredSocket): void {
    socket.setReading(false);
    this.#inProgress.add(socket);
    if (this.#reader === undefined) this.#readNext();
  }

  /** Removes a handshake that has ended. */
  delete(socket: SecuredSocket): void {
    this.#inProgress.delete(socket);
    if (socket !== this.#reader) return;
    this.#hasEnded = true;
    this.#readNext();
  }

  /**
   * Ends the turn of the reading handshake, so that an endpoint that sends nothing delays no other. The tenant
   * pauses for `excessMs` if one of its handshakes has read since the last turn. Returns false when no handshake is
   * in progress.
   */
  nextTurn(excessMs: number): boolean {
    if (excessMs > 0 && this.hasRead) this.pause(excessMs);
    this.#hasEnded = false;
    this.#bytesBefore = this.#reader?.tcp.bytesRead ?? 0;
    if (this.#reader === undefined || this.#inProgress.size > 1 || this.pauseLeftMs > 0) this.#endTurn();
    return this.#inProgress.size > 0;
  }

  /** Pauses the handshakes for an excess of CPU time. Isolates the tenant where there is a second thread. */
  pause(excessMs: number): void {
    const free = performance.now() - PAUSE_FACTOR * FREE_MS;
    this.#pausedUntil = Math.max(this.#pausedUntil, free) + PAUSE_FACTOR * excessMs;
    const { onIsolated } = this.budget;
    if (onIsolated === undefined || this.pauseLeftMs <= 0) return;
    if (!this.isIsolated) onIsolated(this.#id);
    this.#isolatedUntil = performance.now() + ISOLATED_MS;
    for (const { tls } of this.#inProgress) tls.destroy(new ThrottledError());
  }

  /** Whether a handshake has received bytes since the last turn. */
  get hasRead(): boolean {
    return this.#hasEnded || (this.#reader?.tcp.bytesRead ?? 0) > this.#bytesBefore;
  }

  #endTurn(): void {
    const reader = this.#reader;
    reader?.setReading(false);
    if (reader !== undefined && this.#inProgress.delete(reader)) this.#inProgress.add(reader);
    this.#readNext();
  }

  #readNext(): void {
    const [next] = this.#inProgress;
    this.#reader = this.pauseLeftMs > 0 ? undefined : next;
    this.#bytesBefore = next?.tcp.bytesRead ?? 0;
    this.#reader?.setReading(true);
  }
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Finds the tenants whose handshakes block the event loop. OpenSSL computes before this code runs, so the thread's
 * CPU time is read every few milliseconds while handshakes are in progress. CPU time of other processes is not
 * included. All tenants that read since the last turn share the excess. So no excess is lost, and another tenant's
 * excess seldom makes a tenant costly.
 */
export class HandshakeBudget {
  readonly onIsolated: ((tenantId: string) => void) | undefined;
  readonly #tenants: LRUCache<string, TenantHandshakes>;
  /** Tenants with handshakes in progress. */
  readonly #active = new Set<TenantHandshakes>();
  readonly #open = new Set<SecuredSocket>();
  readonly #floodChecks = setInterval(() => {
    for (const socket of this.#open) socket.endIfFlooded();
  }, FLOOD_CHECK_MS).unref();
  #turn: NodeJS.Timeout | undefined;
  /** Excess of all steps since the last turn, milliseconds. */
  #excessMs = 0;
  #readMs = 0;

  /**
   * `onIsolated` is called with each tenant that becomes costly. Without it there is no second thread, and a costly
   * tenant's handshakes only pause.
   */
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

  /** Adds a connection, and charges its handshake's CPU time to the tenant until `ended` settles. */
  async measure(socket: SecuredSocket, ended: Promise<void>): Promise<void> {
    const { tenant } = socket;
    this.#open.add(socket);
    socket.tls.once('close', () => this.#open.delete(socket));
    this.#active.add(tenant);
    if (this.#turn === undefined) {
      this.#readMs = cpuMs();
      this.#chargeLater();
    }
    // Node starts reading in this tick, so the turn begins in the next one.
    process.nextTick(() => tenant.add(socket));
    await ended.finally(() => tenant.delete(socket));
  }

  /**
   * Stops reading from the tenant's open connections while it is paused, so that a turn of the event loop has at
   * most one flood.
   */
  pauseReading(tenant: TenantHandshakes): void {
    const isPaused = (socket: SecuredSocket): boolean =>
      socket.tenant === tenant && !tenant.isInProgress(socket);
    const sockets = [...this.#open].filter(isPaused);
    for (const socket of sockets) socket.setReading(false);
    const resume = (): void => {
      if (tenant.pauseLeftMs > 0) setTimeout(resume, tenant.pauseLeftMs).unref();
      else for (const socket of sockets) socket.setReading(true);
    };
    resume();
  }

  /**
   * Must be called after each piece of other work, so that the CPU time of many attempts is not charged to one
   * handshake.
   */
  readCpu(): void {
    // Reading the CPU time takes a microsecond, and is not needed while no handshake is in progress.
    if (this.#turn === undefined) return;
    const before = this.#readMs;
    this.#readMs = cpuMs();
    this.#excessMs += Math.max(0, this.#readMs - before - USUAL_MS);
  }

  close(): void {
    clearInterval(this.#floodChecks);
  }

  #chargeLater(): void {
    this.#excessMs = 0;
    this.#turn = setTimeout(() => this.#chargeTurn(), TURN_MS).unref();
  }

  #chargeTurn(): void {
    this.readCpu();
    // It is unknown whose handshake used the CPU time, so the tenants share it.
    const readers = [...this.#active].filter(({ hasRead }) => hasRead).length;
    for (const tenant of this.#active)
      if (!tenant.nextTurn(this.#excessMs / readers)) this.#active.delete(tenant);
    this.#turn = undefined;
    if (this.#active.size > 0) this.#chargeLater();
  }
}
