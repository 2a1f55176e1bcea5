import { Client } from 'undici';
import type { buildConnector, Dispatcher } from 'undici';
import type { Attempt } from './attempt.js';

export interface ConnectionLimits {
  /** Connections to one origin; a further attempt waits for a free one within its own deadline. */
  readonly connectionsPerOrigin: number;
  /** An idle connection is closed after this time unless the endpoint names another one in `Keep-Alive`. */
  readonly keepAliveMs: number;
  /** Bytes of the answer's header block. */
  readonly headerLimitBytes: number;
}

export type OpenClient = (origin: string) => Client;

/** An upper bound for what an endpoint's `Keep-Alive: timeout=` may ask for. */
const KEEP_ALIVE_MAX_MS = 60_000;

export function createClientOpener(
  connector: buildConnector.connector,
  limits: ConnectionLimits,
): OpenClient {
  const options: Client.Options = {
    connect: connector,
    pipelining: 1,
    allowH2: false,
    // The attempt's own deadline covers both; undici's timers would cost two more for each request.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: limits.headerLimitBytes,
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: Math.max(limits.keepAliveMs, KEEP_ALIVE_MAX_MS),
  };
  return (origin) => new Client(origin, options);
}

/**
 * The connections to one origin: one undici client each, one attempt on each at a time, the one used last taken first.
 * undici's own Pool opens a second connection whenever the first has answered but not yet turned round, which doubles
 * the connections of a busy endpoint and cost a third more CPU time when measured; here the next attempt queues on it.
 */
export class OriginPool {
  readonly origin: string;
  readonly bornAt: number;
  lastUsedAt: number;
  /** Attempts that run or wait here. */
  busy = 0;
  readonly #openClient: OpenClient;
  readonly #maxClients: number;
  readonly #clients = new Set<Client>();
  readonly #free: Client[] = [];
  readonly #waiting = new Map<Attempt, Dispatcher.DispatchOptions>();
  #retired = false;
  #onEmpty: (() => void) | undefined = undefined;

  constructor(origin: string, openClient: OpenClient, maxClients: number, now: number) {
    this.origin = origin;
    this.bornAt = now;
    this.lastUsedAt = now;
    this.#openClient = openClient;
    this.#maxClients = maxClients;
  }

  start(attempt: Attempt, options: Dispatcher.DispatchOptions): void {
    this.busy += 1;
    const client = this.#free.pop() ?? this.#open();
    if (client === undefined) this.#waiting.set(attempt, options);
    else run(client, attempt, options);
  }

  /** The attempt has ended, in whatever way; its connection (if it got that far) is free for the next one. */
  release(attempt: Attempt, now: number): void {
    this.busy -= 1;
    this.lastUsedAt = now;
    const { client } = attempt;
    if (client === undefined) this.#waiting.delete(attempt);
    else if (attempt.begun) this.#reuse(client);
    else this.#discard(client);
    if (this.#retired && this.busy === 0) this.#onEmpty?.();
  }

  /** Takes no new attempt; resolves when those it has ended and all connections are closed. */
  async retire(): Promise<void> {
    this.#retired = true;
    if (this.busy > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
    await Promise.all([...this.#clients].map((client) => client.close()));
  }

  #open(): Client | undefined {
    if (this.#clients.size >= this.#maxClients) return undefined;
    const client = this.#openClient(this.origin);
    this.#clients.add(client);
    return client;
  }

  #reuse(client: Client): void {
    for (const [attempt, options] of this.#waiting) {
      this.#waiting.delete(attempt);
      run(client, attempt, options);
      return;
    }
    this.#free.push(client);
  }

  /** It never got to send (its connection did not come up in time): nobody should queue behind that. */
  #discard(client: Client): void {
    this.#clients.delete(client);
    client.destroy(() => undefined);
    const next = this.#waiting.size > 0 ? this.#open() : undefined;
    if (next !== undefined) this.#reuse(next);
  }
}

function run(client: Client, attempt: Attempt, options: Dispatcher.DispatchOptions): void {
  attempt.client = client;
  client.dispatch(options, attempt);
}
