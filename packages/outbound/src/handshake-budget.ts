import type { Socket } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { SendFailure } from './send-failure.js';

/** CPU time of one turn of the event loop, milliseconds: a handshake takes 2, and everybody waits meanwhile. */
const LONG_TURN_MS = 50;
/** Within a minute, two pauses: a tenant that happens to be there when another's turn is long seldom is three times. */
const STRIKES = 3;
/** Without a new handshake, milliseconds: as the first pause of a breaker. */
const PAUSE_MS = 30_000;
/** Without reading of any handshake after a strike, milliseconds: three long turns in a row would be a second for everybody. */
const REST_MS = 1_000;
/** From one look at all connections to the next, milliseconds: a flood of TLS costs as much CPU time at most. */
const LOOK_EVERY_MS = 100;

/** No connection for this attempt now, through no fault of its endpoint; in `waitMs` there may be one, milliseconds. */
export class ThrottledError extends SendFailure {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super('CONNECT', 'THROTTLED');
    this.waitMs = waitMs;
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

  /** From now on so many bytes of TLS may come. */
  allow(bytes: number): void {
    this.#mostBytes = this.#tlsBytes + bytes;
  }

  endFlood(): void {
    if (this.#tlsBytes > this.#mostBytes) this.strike();
  }

  /** Ends the connection, and counts against its tenant. */
  strike(): void {
    this.tenant.strike();
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
  readonly #onPause: () => void;
  /** The next to read first. */
  readonly #underWay = new Set<SecuredSocket>();
  #reader: SecuredSocket | undefined;
  #bytesBefore = 0;
  #strikes: readonly number[] = [];
  #restsUntil = 0;
  #pausedUntil = 0;

  constructor(onPause: () => void) {
    this.#onPause = onPause;
  }

  /** Until there may be a new handshake, milliseconds; 0 or less when there may be one now. */
  get pausedMs(): number {
    return this.#pausedUntil - performance.now();
  }

  /** It reads when its turn comes. */
  add(socket: SecuredSocket): void {
    this.#underWay.add(socket);
    socket.setReading(false);
  }

  /** It has ended, and so was the one that read. */
  delete(socket: SecuredSocket): void {
    this.#underWay.delete(socket);
  }

  /**
   * From now on the next handshake reads, so that a silent one holds up none. `wasLong`: the turn of the event loop before this
   * took too much CPU time; a strike if the handshake that read in it received bytes. False: no handshake is under way.
   */
  takeTurn(wasLong: boolean): boolean {
    if (this.#reader !== undefined) this.#endTurn(this.#reader, wasLong);
    const [next] = this.#underWay;
    this.#reader = performance.now() < this.#restsUntil ? undefined : next;
    this.#bytesBefore = next?.tcp.bytesRead ?? 0;
    this.#reader?.setReading(true);
    return next !== undefined;
  }

  #endTurn(reader: SecuredSocket, wasLong: boolean): void {
    if (wasLong && reader.tcp.bytesRead > this.#bytesBefore) this.strike();
    if (this.#underWay.delete(reader)) this.add(reader);
  }

  /** A success takes none back: an endpoint that answers 200 has cost us as much. */
  strike(): void {
    const now = performance.now();
    this.#restsUntil = now + REST_MS;
    this.#strikes = [...this.#strikes.filter((at) => at > now - 2 * PAUSE_MS), now];
    if (this.#strikes.length < STRIKES) return;
    this.#pausedUntil = now + PAUSE_MS;
    for (const { tls } of this.#underWay) tls.destroy(new ThrottledError(PAUSE_MS));
    this.#onPause();
  }
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Who made a turn of the event loop long. OpenSSL computes before any of our code runs, so the CPU time of our thread is read every
 * millisecond while handshakes are under way. A strike is for those that received bytes since the reading before.
 * CPU time does not pass while other processes have the core.
 */
export class HandshakeBudget {
  readonly #tenants: LRUCache<string, TenantHandshakes>;
  /** Those with handshakes under way. */
  readonly #active = new Set<TenantHandshakes>();
  readonly #open = new Set<SecuredSocket>();
  readonly #looking = setInterval(() => this.#endFloods(), LOOK_EVERY_MS).unref();
  readonly #collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) this.#collectedMs += duration;
  });
  #turn: NodeJS.Timeout | undefined;
  #collectedMs = 0;
  #longestMs = 0;
  #readMs = 0;

  constructor(maxTenants: number, onPause: ((tenantId: string) => void) | undefined) {
    this.#tenants = new LRUCache({
      max: maxTenants,
      memoMethod: (tenantId) => new TenantHandshakes(() => onPause?.(tenantId)),
    });
    this.#collections.observe({ entryTypes: ['gc'] });
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
    if (this.#turn === undefined) this.#begin();
    // Node itself begins to read in this tick.
    process.nextTick(() => tenant.add(socket));
    await ended.finally(() => tenant.delete(socket));
  }

  #begin(): void {
    this.#readMs = cpuMs();
    [this.#longestMs, this.#collectedMs] = [0, 0];
    this.#turn = setTimeout(() => this.#takeTurns(), 1).unref();
  }

  /** To be called when an attempt ends: the work of our own code for many of them is not taken for that of one handshake. */
  readCpu(): void {
    // It costs a microsecond, and says nothing while no handshake is under way.
    if (this.#turn === undefined) return;
    const before = this.#readMs;
    this.#readMs = cpuMs();
    this.#longestMs = Math.max(this.#longestMs, this.#readMs - before);
  }

  close(): void {
    clearInterval(this.#looking);
    this.#collections.disconnect();
  }

  #takeTurns(): void {
    this.readCpu();
    const wasLong = this.#longestMs - this.#collectedMs > LONG_TURN_MS;
    [this.#longestMs, this.#collectedMs] = [0, 0];
    for (const tenant of this.#active) if (!tenant.takeTurn(wasLong)) this.#active.delete(tenant);
    this.#turn = this.#active.size > 0 ? setTimeout(() => this.#takeTurns(), 1).unref() : undefined;
  }

  #endFloods(): void {
    for (const socket of this.#open) socket.endFlood();
  }
}
