import type { Socket } from 'node:net';
import type { Attempt } from '../attempt.js';
import { Connection } from '../connection.js';
import type { ConnectionLimits } from '../connection.js';
import type { GuardedConnect, Handshake, SessionSlot } from '../guarded-connector.js';
import type { HandshakeLimiter } from './handshake-limiter.js';
import type { IdleConnections, IdleOwner } from './idle-connections.js';
import { parseOrigin } from '../parse-origin.js';
import { SendFailure, toConnectFailure } from '../send-failure.js';
import { WaitingAttempts } from './waiting-attempts.js';

export interface OriginLimits extends ConnectionLimits {
  /** Connections to one origin; a further attempt waits for a free one within its own deadline. */
  readonly connectionsPerOrigin: number;
  /** Handshakes (resolving, connecting, TLS) to one origin at once, default 8; until there are as many connections nobody waits for a used one. */
  readonly handshakesPerOrigin: number;
  /** How long an attempt waits for a used connection then before another is opened for it, milliseconds, default 50. */
  readonly usedConnectionMs: number;
  /** An attempt that has waited so long fails with the next handshake that fails, when none came up meanwhile. */
  readonly failTogetherMs: number;
}

/** A handshake, and whether it is one of those shared. */
interface UnderWay {
  readonly handshake: Handshake;
  readonly shared: boolean;
}

/** What the pools of all origins share. */
export interface PoolPorts {
  readonly connect: GuardedConnect;
  readonly handshakes: HandshakeLimiter;
  readonly idle: IdleConnections;
  readonly limits: OriginLimits;
  /** An attempt of this pool has ended. */
  readonly onEnd: (pool: OriginPool) => void;
}

/**
 * The connections of one tenant to one origin: one attempt on each at a time, the one used last taken first. Not shared among tenants:
 * a response that comes late, or twice, is taken for that of the next attempt on its connection.
 * An attempt without a connection waits; handshakes are begun for those who wait, a few at a time, and what becomes
 * free first — a new connection or a used one — takes whoever waits longest.
 * undici's own Pool opens a second connection whenever the first has answered but not yet turned round, which doubles
 * the connections of a busy endpoint and cost a third more CPU time when measured; here the next attempt queues on it.
 */
export class OriginPool implements IdleOwner {
  /** Tenant and origin. */
  readonly key: string;
  readonly bornAt: number;
  lastUsedAt: number;
  /** Attempts that run or wait here. */
  busy = 0;
  readonly #url: URL;
  readonly #ports: PoolPorts;
  readonly #connections = new Set<Connection>();
  readonly #free: Connection[] = [];
  readonly #waiting = new WaitingAttempts();
  /** Oldest first. */
  readonly #handshakes: UnderWay[] = [];
  /** The newest TLS session of a verified connection; it ends with the pool. */
  readonly #session: SessionSlot = { session: undefined };
  #ownTaken = false;
  #lastUpAt = -Infinity;
  #retired = false;
  #looking: NodeJS.Timeout | undefined = undefined;
  #onEmpty: (() => void) | undefined = undefined;

  /** Throws when `origin` is no URL, or one with more than scheme, host and port. */
  constructor(
    key: string,
    origin: string,
    { ports, now }: { readonly ports: PoolPorts; readonly now: number },
  ) {
    this.key = key;
    this.bornAt = now;
    this.lastUsedAt = now;
    this.#url = parseOrigin(origin);
    this.#ports = ports;
  }

  start(attempt: Attempt): void {
    this.busy += 1;
    this.#place(attempt);
  }

  /** Its connection had ended: it takes the next fresh one, because it has waited longest. */
  startAgain(attempt: Attempt): void {
    this.#waiting.add(attempt, true);
    this.open();
  }

  #place(attempt: Attempt): void {
    const connection = this.#free.pop();
    if (connection === undefined) {
      this.#waiting.add(attempt);
      return this.open();
    }
    this.#ports.idle.remove(connection);
    attempt.run(connection, false);
  }

  /** The attempt has ended, in whatever way; a connection that carried it to the end is free for the next one. */
  release(attempt: Attempt, now: number): void {
    this.busy -= 1;
    this.lastUsedAt = now;
    const { connection } = attempt;
    if (connection === undefined) this.#leave(attempt);
    else if (attempt.reusable) this.#offer(connection, false);
    else this.#discard(connection);
    if (this.#retired && this.busy === 0) this.#onEmpty?.();
    this.#ports.onEnd(this);
  }

  /** Takes no new attempt; resolves when those it has ended and all connections are closed. */
  async retire(): Promise<void> {
    this.#retired = true;
    if (this.busy > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
    clearTimeout(this.#looking);
    for (const underWay of [...this.#handshakes]) this.#abandon(underWay);
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  /** Begins handshakes for those who wait, as far as the bounds allow. */
  open(): void {
    while (this.#needsMore()) {
      const shared = this.#ownTaken;
      if (shared && !this.#ports.handshakes.acquire(this)) return;
      this.#begin(shared);
    }
  }

  #needsMore(): boolean {
    const { connectionsPerOrigin, handshakesPerOrigin } = this.#ports.limits;
    const underWay = this.#handshakes.length;
    const wanted = this.#connections.size + underWay;
    if (underWay >= Math.min(this.#waiting.size, handshakesPerOrigin) || wanted >= connectionsPerOrigin)
      return false;
    return wanted < handshakesPerOrigin || this.#waiting.needsFresh || this.#haveWaited();
  }

  /**
   * Whether whoever waits longest has waited long enough for a used connection; else it is looked at again. A used one is free
   * within milliseconds, a new one costs both sides as much as ten posts: after a pause of ours hundreds of attempts start at once.
   */
  #haveWaited(): boolean {
    const leftMs = this.#waiting.firstSince + this.#ports.limits.usedConnectionMs - performance.now();
    if (leftMs > 0) this.#lookIn(leftMs);
    return leftMs <= 0;
  }

  #lookIn(ms: number): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      this.open();
    }, ms);
  }

  #begin(shared: boolean): void {
    if (!shared) this.#ownTaken = true;
    const handshake = this.#ports.connect(this.#url, this.#session);
    const underWay = { handshake, shared };
    this.#handshakes.push(underWay);
    handshake.open.then(
      (socket) => {
        if (!this.#isOver(underWay)) return void socket.destroy();
        if (socket.writable) this.#up(socket);
        else this.#failed(toConnectFailure({ code: 'ECONNRESET' }), handshake.startedAt);
        this.#handshakeEnded(shared);
      },
      (error: unknown) => {
        if (!this.#isOver(underWay)) return;
        this.#failed(toConnectFailure(error), handshake.startedAt);
        this.#handshakeEnded(shared);
      },
    );
  }

  /** Whether it was still wanted; it is under way no more. */
  #isOver(underWay: UnderWay): boolean {
    const at = this.#handshakes.indexOf(underWay);
    if (at >= 0) this.#handshakes.splice(at, 1);
    return at >= 0;
  }

  #up(socket: Socket): void {
    this.#lastUpAt = performance.now();
    const { origin } = this.#url;
    const connection = new Connection(origin, socket, this.#ports.limits, (gone) => this.#forget(gone));
    this.#connections.add(connection);
    this.#offer(connection, true);
  }

  /** After whoever the handshake was for waits no more, because this begins the next one. */
  #handshakeEnded(shared: boolean): void {
    if (shared) this.#ports.handshakes.release();
    else this.#ownTaken = false;
    this.open();
  }

  /**
   * One failed handshake is the failure of the one attempt that waited longest. When nothing came up since it began,
   * those that have waited for most of a connect time-out themselves fail with it: the next handshake would only
   * make them wait for the same again, and hold their places meanwhile.
   */
  #failed(failure: SendFailure, startedAt: number): void {
    const isAlike = this.#lastUpAt < startedAt;
    this.#waiting.fail(failure, isAlike ? performance.now() - this.#ports.limits.failTogetherMs : -Infinity);
  }

  /** Its time was over before it had a connection: nobody should queue behind the handshake it waited for. */
  #leave(attempt: Attempt): void {
    if (!this.#waiting.remove(attempt)) return;
    const [oldest] = this.#handshakes;
    if (oldest !== undefined && this.#handshakes.length > this.#waiting.size) this.#abandon(oldest);
  }

  #abandon(underWay: UnderWay): void {
    this.#isOver(underWay);
    this.#handshakeEnded(underWay.shared);
    underWay.handshake.giveUp(new SendFailure('CONNECT', 'ABANDONED'));
  }

  /** `isFresh`: it carried nothing yet. */
  #offer(connection: Connection, isFresh: boolean): void {
    if (connection.isGone) return this.open();
    const attempt = this.#waiting.take(isFresh);
    if (attempt !== undefined) return attempt.run(connection, isFresh);
    this.#free.push(connection);
    this.#ports.idle.add(connection, this);
  }

  /** There are too many idle ones over all origins. */
  closeIdle(connection: Connection): void {
    this.#discard(connection);
  }

  /** Whatever its attempt came to: given up, broken, or the last one by its response. */
  #discard(connection: Connection): void {
    connection.discard();
    this.open();
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at < 0) return;
    this.#free.splice(at, 1);
    this.#ports.idle.remove(connection);
  }
}
