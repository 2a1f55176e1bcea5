import type { Socket } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { SendFailure } from './send-failure.js';

/** CPU of one turn of the event loop, milliseconds: a handshake takes 2, and everybody waits meanwhile. */
const LONG_TURN_MS = 50;
/** Within two pauses: a tenant that happens to be there when another's turn is long seldom is three times. */
const STRIKES = 3;
/** Without a new handshake, milliseconds: as the first pause of a breaker. */
const PAUSE_MS = 30_000;
/** Without reading of any handshake after a strike, milliseconds: so three long turns are no second in a row. */
const REST_MS = 1_000;
/** From one look at all connections to the next, milliseconds: a flood of TLS costs as much CPU at most. */
const LOOK_EVERY_MS = 100;

/** No connection for this attempt now, through no fault of its endpoint; in `waitMs` there may be one, milliseconds. */
export class ThrottledError extends SendFailure {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super('CONNECT', 'THROTTLED');
    this.waitMs = waitMs;
  }
}

/** A TLS connection, and that of TCP below it. */
export class SecuredSocket {
  readonly tcp: Socket;
  readonly tls: TLSSocket;
  readonly tenant: TenantHandshakes;
  #bytesRead = 0;
  #mostBytes: number;

  /** `mostBytes` of TLS may come in the handshake. */
  constructor(tcp: Socket, tls: TLSSocket, tenant: TenantHandshakes, mostBytes: number) {
    this.tcp = tcp;
    this.tls = tls;
    this.tenant = tenant;
    this.#mostBytes = mostBytes;
  }

  /** From now on so many bytes that are of TLS and not of HTTP may come: tickets, key updates, heads of records. */
  allow(bytes: number): void {
    this.#mostBytes = this.#tlsBytes + bytes;
  }

  /** Whether bytes came since it was asked before. */
  moved(): boolean {
    const before = this.#bytesRead;
    this.#bytesRead = this.tcp.bytesRead;
    return this.#bytesRead > before;
  }

  endFlood(): void {
    if (this.#tlsBytes > this.#mostBytes) this.strike();
  }

  /** It ends, and counts against its tenant. */
  strike(): void {
    this.tenant.strike();
    this.tls.destroy(new SendFailure('PROTOCOL', 'TLS_FLOOD'));
  }

  /** By Node's own handle: nothing above it reads before the handshake has ended. */
  setReading(isReading: boolean): void {
    const { _handle } = this.tls as unknown as { _handle: Record<string, (() => void) | undefined> | null };
    _handle?.[isReading ? 'readStart' : 'readStop']?.();
  }

  get #tlsBytes(): number {
    return this.tcp.bytesRead - this.tls.bytesRead;
  }
}

/** What the endpoints of one tenant made our thread compute, and what follows for its handshakes. */
export class TenantHandshakes {
  readonly #onPause: () => void;
  /** The one that reads is the last. */
  readonly #underWay = new Set<SecuredSocket>();
  #turn: NodeJS.Timeout | undefined;
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

  /** One handshake reads at a time, for 1 ms: no turn of the event loop has two costly ones, and one that is silent holds up none. */
  add(socket: SecuredSocket): void {
    socket.setReading(false);
    this.#underWay.add(socket);
    this.#turn ??= setTimeout(() => this.#takeTurn(), 1).unref();
  }

  delete(socket: SecuredSocket): void {
    socket.setReading(true);
    this.#underWay.delete(socket);
  }

  /** No handshake reads for a while. */
  rest(): void {
    this.#restsUntil = performance.now() + REST_MS;
  }

  /** A success takes none back: an endpoint that answers 200 has cost us as much. */
  strike(): void {
    this.rest();
    const now = performance.now();
    this.#strikes = [...this.#strikes.filter((at) => at > now - 2 * PAUSE_MS), now];
    if (this.#strikes.length < STRIKES) return;
    this.#strikes = [];
    this.#pausedUntil = now + PAUSE_MS;
    for (const { tls } of this.#underWay) tls.destroy(new ThrottledError(PAUSE_MS));
    this.#onPause();
  }

  #takeTurn(): void {
    const restMs = this.#restsUntil - performance.now();
    const [next] = this.#underWay;
    for (const socket of this.#underWay) socket.setReading(socket === next && restMs <= 0);
    this.#turn = undefined;
    if (next === undefined) return;
    this.#underWay.delete(next);
    this.#underWay.add(next);
    if (this.#underWay.size > 1 || restMs > 0)
      this.#turn = setTimeout(() => this.#takeTurn(), Math.max(1, restMs)).unref();
  }
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Who made a turn of the event loop long. OpenSSL computes before any of our code runs. So the CPU time of our thread is read when a
 * handshake has ended, and every 100 ms: the strike is for this handshake, and for those that received bytes since the last reading.
 * CPU time does not pass while other processes have the core.
 */
export class HandshakeBudget {
  readonly #tenants: LRUCache<string, TenantHandshakes>;
  readonly #underWay = new Set<SecuredSocket>();
  readonly #open = new Set<SecuredSocket>();
  readonly #looking = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  readonly #collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) this.#collectedMs += duration;
  });
  #collectedMs = 0;
  #last = { cpuMs: cpuMs(), at: performance.now(), collectedMs: 0 };
  /** When the last attempt ended, `performance.now()`: what came before is not the work of a handshake that ends now. */
  attemptEndedAt = 0;

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
    this.#open.add(socket);
    socket.tls.once('close', () => this.#open.delete(socket));
    this.#underWay.add(socket);
    socket.tenant.add(socket);
    try {
      await ended;
    } finally {
      socket.tenant.delete(socket);
      this.#judge(socket);
      this.#underWay.delete(socket);
    }
  }

  close(): void {
    clearInterval(this.#looking);
    this.#collections.disconnect();
  }

  #look(): void {
    this.#judge();
    for (const socket of this.#open) socket.endFlood();
  }

  /** The CPU time since the last reading is at least that of both, less the time that passed until an attempt ended. */
  #judge(ended?: SecuredSocket): void {
    const before = this.#last;
    this.#last = { cpuMs: cpuMs(), at: performance.now(), collectedMs: this.#collectedMs };
    const othersMs = Math.max(0, this.attemptEndedAt - before.at);
    const longMs = this.#last.cpuMs - before.cpuMs - othersMs - LONG_TURN_MS;
    const moved = [...this.#underWay].filter((socket) => socket.moved() || socket === ended);
    if (longMs <= 0 || moved.length === 0) return;
    for (const { tenant } of moved) tenant.rest();
    const judge = (): void => {
      if (longMs > this.#collectedMs - before.collectedMs) for (const { tenant } of moved) tenant.strike();
    };
    // Collections of this turn are reported in the next ones.
    setTimeout(judge, LOOK_EVERY_MS).unref();
  }
}
