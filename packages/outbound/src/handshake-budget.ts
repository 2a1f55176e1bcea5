import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { SendFailure } from './send-failure.js';

/** CPU time of one piece of a handshake that is nobody's excess, milliseconds: most take 2 to 5. */
const USUAL_MS = 5;
/** Rest for each millisecond of excess: a tenant's takes a tenth of our thread at most. */
const REST_TIMES = 10;
/** Excess of a tenant that costs no rest, milliseconds: one piece with P-521 beside other load, or of ours that is taken for a handshake's. */
const FREE_MS = 40;
/** For how long a costly tenant gets its new connections on the second thread, milliseconds: in each such time one piece of its handshakes holds up the others. */
const ISOLATED_MS = 600_000;
/** Each handshake of a tenant reads for so long in turn, milliseconds. At half, the timer costs twice as much, 0.4 % of the thread. */
const TURN_MS = 5;
/** The longest record of TLS. */
const RECORD_BYTES = 16_384;
/** From one look at all connections to the next, milliseconds: a flood of one connection costs as much CPU time at most. */
const LOOK_EVERY_MS = 100;

/** No connection here, because the handshakes of this tenant rest: no fault of this endpoint. */
export class ThrottledError extends SendFailure {
  constructor() {
    super('CONNECT', 'THROTTLED');
  }
}

/** A TLS connection of a tenant. Bytes of TLS are those that are not of HTTP: tickets, key updates, heads of records. */
export class SecuredSocket {
  readonly tcp: Socket;
  readonly tls: TLSSocket;
  readonly tenant: TenantHandshakes;
  #mostBytes: number;

  /** `mostBytes` of TLS may come in the handshake. */
  constructor(tcp: Socket, tls: TLSSocket, tenant: TenantHandshakes, mostBytes: number) {
    this.tcp = tcp;
    this.tls = tls;
    this.tenant = tenant;
    this.#mostBytes = mostBytes;
  }

  get #tlsBytes(): number {
    return this.tcp.bytesRead - this.tls.bytesRead;
  }

  /** Ends it when more came than was allowed, and than `openBytes` of a record that is not whole yet. */
  endIfFlooded(openBytes = RECORD_BYTES): void {
    if (this.#tlsBytes > this.#mostBytes + openBytes) this.endAsFlood();
  }

  /** From now on so many bytes of TLS may come. */
  allow(bytes: number): void {
    this.#mostBytes = this.#tlsBytes + bytes;
  }

  /** Ends it. Its tenant rests for what may have been read before this was seen: the next flood needs a connection or a turn. */
  endAsFlood(): void {
    this.tenant.rest(LOOK_EVERY_MS);
    this.tenant.budget.pauseReading(this.tenant);
    this.tls.destroy(new SendFailure('PROTOCOL', 'TLS_FLOOD'));
  }

  /** By Node's own handle: nothing above it reads before the handshake has ended. */
  setReading(isReading: boolean): void {
    const { _handle } = this.tls as unknown as { _handle: Record<string, (() => void) | undefined> | null };
    _handle?.[isReading ? 'readStart' : 'readStop']?.();
  }
}

/** The handshakes of one tenant. One reads at a time: no turn of the event loop has two costly ones. */
export class TenantHandshakes {
  readonly budget: HandshakeBudget;
  readonly #id: string;
  /** The next to read first. */
  readonly #underWay = new Set<SecuredSocket>();
  #reader: SecuredSocket | undefined;
  #bytesBefore = 0;
  /** Whether one ended since the last turn. */
  #hasEnded = false;
  #restsUntil = 0;
  #isolatedUntil = 0;

  constructor(budget: HandshakeBudget, id: string) {
    this.budget = budget;
    this.#id = id;
  }

  /** Whether it gets no new connection on this thread, since it has become costly. */
  get isIsolated(): boolean {
    return this.#isolatedUntil > performance.now();
  }

  /** For how long they still rest, milliseconds; 0 or less: they do not. */
  get restMs(): number {
    return this.#restsUntil - performance.now();
  }

  isUnderWay(socket: SecuredSocket): boolean {
    return this.#underWay.has(socket);
  }

  /** It reads when its turn comes. */
  add(socket: SecuredSocket): void {
    socket.setReading(false);
    this.#underWay.add(socket);
    if (this.#reader === undefined) this.#readNext();
  }

  /** Its handshake has ended. */
  delete(socket: SecuredSocket): void {
    this.#underWay.delete(socket);
    if (socket !== this.#reader) return;
    this.#hasEnded = true;
    this.#readNext();
  }

  /**
   * From now on the next handshake reads, so that a silent one holds up none. `excessMs`: their share of the excess since the turn
   * before, for which they rest if one of them received bytes meanwhile. False: no handshake is under way.
   */
  takeTurn(excessMs: number): boolean {
    if (excessMs > 0 && this.hasRead) this.rest(excessMs);
    this.#hasEnded = false;
    this.#bytesBefore = this.#reader?.tcp.bytesRead ?? 0;
    if (this.#reader === undefined || this.#underWay.size > 1 || this.restMs > 0) this.#endTurn();
    return this.#underWay.size > 0;
  }

  /** For so much CPU time. */
  rest(excessMs: number): void {
    const free = performance.now() - REST_TIMES * FREE_MS;
    this.#restsUntil = Math.max(this.#restsUntil, free) + REST_TIMES * excessMs;
    const { onIsolated } = this.budget;
    if (onIsolated === undefined || this.restMs <= 0) return;
    if (!this.isIsolated) onIsolated(this.#id);
    this.#isolatedUntil = performance.now() + ISOLATED_MS;
    for (const { tls } of this.#underWay) tls.destroy(new ThrottledError());
  }

  /** Whether one of them received bytes since the turn before. */
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
 * Who makes a turn of the event loop long. OpenSSL computes before any of our code runs, so the CPU time of our thread is read in
 * turns while handshakes are under way. CPU time does not pass while other processes have the core. Excess is shared among
 * those whose handshakes read meanwhile: none of it is lost, and what is ours, or another tenant's, seldom makes a tenant costly.
 */
export class HandshakeBudget {
  readonly onIsolated: ((tenantId: string) => void) | undefined;
  readonly #tenants: LRUCache<string, TenantHandshakes>;
  /** Those with handshakes under way. */
  readonly #active = new Set<TenantHandshakes>();
  readonly #open = new Set<SecuredSocket>();
  readonly #looking = setInterval(() => {
    for (const socket of this.#open) socket.endIfFlooded();
  }, LOOK_EVERY_MS).unref();
  #turn: NodeJS.Timeout | undefined;
  /** Of all pieces since the turn before. */
  #excessMs = 0;
  #readMs = 0;

  /** `onIsolated` is called with each tenant that becomes costly; undefined: there is no other thread, and their handshakes rest. */
  constructor(maxTenants: number, onIsolated?: (tenantId: string) => void) {
    this.onIsolated = onIsolated;
    this.#tenants = new LRUCache({ max: maxTenants, memoMethod: (id) => new TenantHandshakes(this, id) });
  }

  of(tenantId: string): TenantHandshakes {
    return this.#tenants.memo(tenantId);
  }

  /** To be called as soon as its handshake has begun; `ended` settles with that. */
  async measure(socket: SecuredSocket, ended: Promise<void>): Promise<void> {
    const { tenant } = socket;
    this.#open.add(socket);
    socket.tls.once('close', () => this.#open.delete(socket));
    this.#active.add(tenant);
    if (this.#turn === undefined) {
      this.#readMs = cpuMs();
      this.#takeTurnsLater();
    }
    // Node itself begins to read in this tick.
    process.nextTick(() => tenant.add(socket));
    await ended.finally(() => tenant.delete(socket));
  }

  /** Reads from no connection of the tenant as long as it rests: one flood a turn of the event loop is worked on. */
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

  /** To be called where a piece of other work ends: that of many attempts is not taken for that of one handshake. */
  readCpu(): void {
    // It costs a microsecond, and says nothing while no handshake is under way.
    if (this.#turn === undefined) return;
    const before = this.#readMs;
    this.#readMs = cpuMs();
    this.#excessMs += Math.max(0, this.#readMs - before - USUAL_MS);
  }

  close(): void {
    clearInterval(this.#looking);
  }

  #takeTurnsLater(): void {
    this.#excessMs = 0;
    this.#turn = setTimeout(() => this.#takeTurns(), TURN_MS).unref();
  }

  #takeTurns(): void {
    this.readCpu();
    // Whose handshake computed is not known.
    const readers = [...this.#active].filter(({ hasRead }) => hasRead).length;
    for (const tenant of this.#active)
      if (!tenant.takeTurn(this.#excessMs / readers)) this.#active.delete(tenant);
    this.#turn = undefined;
    if (this.#active.size > 0) this.#takeTurnsLater();
  }
}
