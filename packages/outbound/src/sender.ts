import { Node, Yallist } from 'yallist';
import { createAddressPolicy } from './guard/address-policy.js';
import { Attempt } from './pool/attempt.js';
import type { ClientCertificate } from './guard/client-certificate.js';
import { createGuardedConnect } from './guard/guarded-connector.js';
import { HandshakeBudget } from './guard/handshake-budget.js';
import { type PoolLimits, OriginPools } from './pool/origin-pool.js';
import { createResolver } from './guard/resolver.js';
import type { SendRequest, SendResult } from './pool/exchange.js';
import type { SenderOptions } from './sender-settings.js';
import { SenderThread } from './sender-thread.js';
import { openCaBundle } from './guard/ca-bundle.js';

const DEFAULT_LIMITS: PoolLimits = {
  handshakesPerOrigin: 8, // Little's law: 8 of 5 ms carry 1,600 posts a second
  usedConnectionMs: 50, // a fast endpoint frees a used connection sooner, at no cost
  maxConnectionAgeMs: 300_000, // a common time to live of DNS answers
  maxIdleConnections: 2_048, // twice the concurrent attempts: 100 MB at most
  keepAliveMs: 4_000, // Node's servers close after 5 s
  keepAliveMaxMs: 15_000, // every idle connection costs memory on both sides
};

/**
 * Creates a sender with a second thread for costly tenants. Throws when the extra authority file or an address block
 * is invalid.
 */
export function createSender({
  resolve,
  onIsolated = () => undefined,
  ...plain
}: SenderOptions = {}): Sender {
  return new Sender({ ...plain, resolve, onIsolated }, new SenderThread(plain));
}

/** Enough for a chain of four. A tenant's own file may be longer, and every KiB may be 25 key updates (0.6 ms). */
const MAX_TICKET_BYTES = 16_384;

type InFlight = Pick<Attempt, 'startedAt' | 'ended'>;

/** Posts requests to endpoints, one connection pool for each tenant and origin. */
export class Sender {
  readonly #timeoutMs: number;
  readonly #pools: OriginPools;
  readonly #budget: HandshakeBudget;
  readonly #thread: SenderThread | undefined;
  /** Attempts in flight, oldest first. In a Set, a quarter of those that have ended would wait for a full collection. */
  readonly #inFlight = new Yallist<InFlight>();
  #closed = false;

  /** `thread`: the second thread for costly tenants; undefined on that thread itself. */
  constructor(options: SenderOptions, thread?: SenderThread) {
    this.#thread = thread;
    this.#timeoutMs = options.attemptTimeoutMs ?? 10_000;
    const createContext = openCaBundle(options.extraCaFile);
    const limits = { ...DEFAULT_LIMITS, ...options };
    this.#budget = new HandshakeBudget(limits.maxIdleConnections, options.onIsolated);
    const guard = {
      refusalOf: createAddressPolicy(options.addresses),
      resolve: options.resolve ?? createResolver(options.resolver),
      connectTimeoutMs: options.connectTimeoutMs ?? 3_000,
      egressProxy: options.egressProxy,
    };
    this.#pools = new OriginPools(
      (client) => {
        // A ticket has the chain that was presented and often the one that was verified (Go), or there are two tickets (OpenSSL).
        const ticketBytes = Math.min(2 * (client?.certificate.length ?? 0), MAX_TICKET_BYTES);
        return createGuardedConnect({ ...guard, ticketBytes, secureContext: createContext(client) });
      },
      limits,
      options.clientCertificate,
      this.#budget,
    );
  }

  /**
   * Makes one attempt. A failure of the endpoint is a value. Rejects for a mistake of the caller (an invalid header,
   * a closed sender), for a fault of this machine, or when the second thread ends. Settles at the deadline, or 5 s
   * later when that thread has stalled.
   */
  async post(request: SendRequest): Promise<SendResult> {
    if (this.#closed) throw new Error('the sender is closed');
    const { tenantId, target, clientCertificate } = request;
    const pool = this.#pools.of(tenantId, target.origin, clientCertificate);
    const attempt = new Attempt(pool, request, this.#timeoutMs);
    const node = new Node<InFlight>(attempt);
    this.#inFlight.pushNode(node);
    try {
      pool.start(attempt);
      const result = await attempt.ended;
      // The attempt needed a new connection, so nothing was sent.
      if (result.kind === 'throttled') return await this.#postOnThread(request, node, result);
      return result;
    } finally {
      this.#budget.readCpu();
      this.#inFlight.removeNode(node);
    }
  }

  /**
   * Posts on the second thread in the remaining time. With less than half of the timeout left, the post stays
   * throttled: a timeout would be blamed on the endpoint.
   */
  async #postOnThread(
    request: SendRequest,
    node: Node<InFlight>,
    throttled: SendResult,
  ): Promise<SendResult> {
    const { startedAt } = node.value;
    const leftMs = (request.timeoutMs ?? this.#timeoutMs) - throttled.durationMs;
    if (this.#thread === undefined || leftMs < throttled.durationMs) return throttled;
    const ended = this.#thread.post(request, leftMs);
    node.value = { startedAt, ended };
    return { ...(await ended), durationMs: performance.now() - startedAt };
  }

  /**
   * Presents this certificate on new connections, for attempts without their own. Older connections finish their
   * attempts and close when idle. Throws when the certificate is invalid.
   */
  present(certificate: ClientCertificate): void {
    this.#pools.present(certificate);
    this.#thread?.present(certificate);
  }

  /** Accepts no new request, waits for those in flight (until their deadlines), and closes all connections. */
  async close(): Promise<void> {
    this.#closed = true;
    // A throttled post may continue on the thread.
    while (this.#inFlight.length > 0) await Promise.allSettled([...this.#inFlight].map(({ ended }) => ended));
    await this.#pools.close();
    await this.#thread?.close();
    this.#budget.close();
  }

  /** Current numbers. */
  stats() {
    const oldest = this.#inFlight.head?.value;
    return {
      pools: this.#pools.size,
      inFlight: this.#inFlight.length,
      /** Age of the oldest attempt in flight, in milliseconds; 0 when there is none. */
      oldestMs: oldest ? performance.now() - oldest.startedAt : 0,
      /** Open TCP connections, handshakes included. */
      connections: this.#budget.connections,
    };
  }
}
