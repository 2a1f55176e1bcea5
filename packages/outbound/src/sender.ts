import { createAddressPolicy } from './address-policy.js';
import type { AddressRules } from './address-policy.js';
import { Attempt } from './attempt.js';
import type { AttemptOwner } from './attempt.js';
import { DeadlineQueue } from './deadline-queue.js';
import { createGuardedConnector } from './guarded-connector.js';
import type { GuardedConnector } from './guarded-connector.js';
import { OriginPools } from './origin-pools.js';
import type { PoolLimits } from './origin-pools.js';
import { createResolver } from './resolver.js';
import type { Resolve } from './resolver.js';
import type { SendResult } from './send-result.js';
import { createTrust } from './trust.js';

/** Where to: made once for each configuration (`checkEndpointUrl` gives it), not for each request. */
export interface SendTarget {
  /** `https://host[:port]`, lower case. */
  readonly origin: string;
  /** Path and query, beginning with `/`. */
  readonly path: string;
}

export interface SendRequest {
  readonly target: SendTarget;
  /** Flat list `[name, value, name, value, …]` (cheapest) or a record; without `host` and `content-length`. */
  readonly headers: string[] | Record<string, string>;
  /** Sent as it is; never changed, so the same bytes can be shared among attempts. */
  readonly body: Buffer;
}

export interface SenderOptions extends Partial<PoolLimits> {
  /** What may be connected to. `allowLoopback` also lets the name `localhost` pass. */
  readonly addresses?: AddressRules;
  /** PEM file with certificate authorities to trust besides the system's (`ENDPOINT_CA_FILE`). */
  readonly extraCaFile?: string;
  /** Default: name servers of the machine, asked for the absolute name. */
  readonly resolve?: Resolve;
  /** Resolving, connecting and TLS together, default 3,000 ms. */
  readonly connectTimeoutMs?: number;
  /** From `post` to the last byte of the answer, default 10,000 ms. */
  readonly attemptTimeoutMs?: number;
  /** How much of an answer's body is read (and thrown away) before the connection is broken off, default 65,536. */
  readonly answerLimitBytes?: number;
}

export interface SenderStats {
  readonly pools: number;
  readonly inFlight: number;
  /** Attempts started so far. Minus `connectionsOpened`: how often a connection was reused. */
  readonly posts: number;
  readonly connectionsOpened: number;
  readonly connectionsOpen: number;
}

export interface Sender {
  /**
   * One attempt. An endpoint's failure is a value; the promise rejects only for a mistake of the caller
   * (an invalid header, a closed sender). It settles at the deadline at the latest.
   */
  post(request: SendRequest): Promise<SendResult>;
  /** Takes no new request, lets those in flight end (their deadline bounds it), closes all connections. */
  close(): Promise<void>;
  stats(): SenderStats;
}

const DEFAULT_LIMITS: PoolLimits = {
  connectionsPerOrigin: 256,
  maxPools: 1_000,
  idlePoolMs: 30_000,
  maxPoolAgeMs: 300_000,
  keepAliveMs: 4_000,
  headerLimitBytes: 16_384,
};

/** Opens the way out for deliveries. Throws when the extra authority file or a denied block cannot be read. */
export function createSender(options: SenderOptions = {}): Sender {
  return new PooledSender(options);
}

class PooledSender implements Sender, AttemptOwner {
  readonly attemptTimeoutMs: number;
  readonly answerLimitBytes: number;
  readonly #connector: GuardedConnector;
  readonly #pools: OriginPools;
  readonly #deadlines = new DeadlineQueue();
  #posts = 0;
  #connectionsOpened = 0;
  #connectionsOpen = 0;
  #closed = false;

  constructor(options: SenderOptions) {
    this.attemptTimeoutMs = options.attemptTimeoutMs ?? 10_000;
    this.answerLimitBytes = options.answerLimitBytes ?? 65_536;
    this.#connector = createGuardedConnector({
      allowAddress: createAddressPolicy(options.addresses),
      allowLocalhost: options.addresses?.allowLoopback === true,
      resolve: options.resolve ?? createResolver(),
      secureContext: createTrust(options.extraCaFile),
      connectTimeoutMs: options.connectTimeoutMs ?? 3_000,
      onOpen: () => {
        this.#connectionsOpened += 1;
        this.#connectionsOpen += 1;
      },
      onClose: () => {
        this.#connectionsOpen -= 1;
      },
    });
    this.#pools = new OriginPools(this.#connector.connect, { ...DEFAULT_LIMITS, ...options });
  }

  post(request: SendRequest): Promise<SendResult> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Error('the sender is closed');
      const { target, headers, body } = request;
      const now = performance.now();
      const pool = this.#pools.of(target.origin, now);
      const attempt = new Attempt(this, pool, { resolve, reject }, now);
      this.#posts += 1;
      this.#deadlines.add(attempt);
      try {
        pool.start(attempt, { method: 'POST', path: target.path, headers, body });
      } catch (error) {
        attempt.refuse(error);
      }
    });
  }

  release(attempt: Attempt, now: number): void {
    this.#deadlines.remove(attempt);
    attempt.pool.release(attempt, now);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pools.close();
    this.#connector.abandon();
  }

  stats(): SenderStats {
    return {
      pools: this.#pools.size,
      inFlight: this.#deadlines.size,
      posts: this.#posts,
      connectionsOpened: this.#connectionsOpened,
      connectionsOpen: this.#connectionsOpen,
    };
  }
}
