import { Node, Yallist } from 'yallist';
import { until } from '../retry.js';
import type { Connections } from '../kafkajs/connections.js';
import { Sender } from './sender.js';
import { PENDING_RECORD_BYTES, toPending, RecordRefused } from './pending-record.js';
import type { PendingRecord, OutgoingRecord, SinkOptions } from './pending-record.js';
import { asError } from '../faults.js';
import { CLOSE_DEADLINE_MS, SEND_DEADLINE_MS, SINK, SINK_METADATA_MS, SWEEP_MS } from '../limits.js';

/**
 * Opens a sink. Resolves at once; the first record connects. Without a broker, records reject at their
 * deadlines.
 */
export function openSink(options: SinkOptions): Promise<Sink> {
  return Promise.resolve(new Sink(options));
}

/** Sends records with acks=all, in batches. See `openSink`. */
export class Sink {
  readonly #options: typeof SINK;
  readonly #connections: Connections;
  readonly #sender: Sender;
  /** A list. In a Set, a quarter of the settled records would stay in memory until the next full collection. */
  readonly #open = new Yallist<PendingRecord>();
  #pendingBytes = 0;
  #lastError: string | undefined;
  #refusal: string | undefined;
  #lingering: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ kafka, ...options }: SinkOptions) {
    this.#options = { ...SINK, ...options };
    this.#connections = kafka.openConnections(SINK_METADATA_MS);
    this.#sender = new Sender({
      connections: this.#connections,
      maxBatchRecords: this.#options.maxBatchRecords,
      onState: (error) => {
        this.#lastError = error === undefined ? undefined : asError(error).message;
        this.#refusal = error instanceof RecordRefused ? error.message : undefined;
      },
    });
  }

  /**
   * Resolves when all in-sync replicas acknowledged the record. Rejects with `RecordRefused` when Kafka permanently
   * rejects it; after `deadlineMs` milliseconds, when it may have been written; and at once when more than
   * `maxPendingBytes` wait, or the sink is closed.
   */
  send(record: OutgoingRecord, { deadlineMs = SEND_DEADLINE_MS } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#enqueue(record, performance.now() + deadlineMs, (error) => (error ? reject(error) : resolve()));
    });
  }

  /**
   * Returns the state of the sink. `lastError` is undefined while the brokers accept records. `refusal` is the
   * latest transient refusal of a broker.
   */
  health() {
    const [lastError, refusal] = [this.#lastError, this.#refusal];
    return { pendingRecords: this.#open.length, pendingBytes: this.#pendingBytes, lastError, refusal };
  }

  #enqueue(record: OutgoingRecord, deadlineAt: number, settle: (error?: Error) => void): void {
    if (this.#closed) return settle(new Error('the sink is closed'));
    if (this.#pendingBytes >= this.#options.maxPendingBytes)
      return settle(new Error(`${this.#pendingBytes} bytes are already pending`));
    let node: Node<PendingRecord>;
    try {
      node = new Node(toPending(record, deadlineAt, (error) => this.#settled(node, settle, error)));
    } catch (error) {
      return settle(asError(error));
    }
    const pending = node.value;
    this.#open.pushNode(node);
    this.#pendingBytes += pending.body.length + PENDING_RECORD_BYTES;
    this.#sender.add(pending);
    this.#linger();
    this.#sweeping ??= setTimeout(() => this.#sweep(), SWEEP_MS);
  }

  #settled(node: Node<PendingRecord>, settle: (error?: Error) => void, error?: Error): void {
    const pending = node.value;
    if (pending.isSettled) return;
    pending.isSettled = true;
    this.#open.removeNode(node);
    this.#pendingBytes -= pending.body.length + PENDING_RECORD_BYTES;
    settle(error);
  }

  /** Schedules a flush `lingerMs` after the first record. A full batch is sent at once. */
  #linger(): void {
    if (this.#open.length >= this.#options.maxBatchRecords) return this.#sender.flush();
    this.#lingering ??= setTimeout(() => {
      this.#lingering = undefined;
      this.#sender.flush();
    }, this.#options.lingerMs);
  }

  #sweep(): void {
    this.#sweeping = undefined;
    const now = performance.now();
    const late = [...this.#open].filter(({ deadlineAt }) => deadlineAt <= now);
    this.#settleAll(late, () => new Error(`no acknowledgement in time${this.#because()}`));
    if (late.length > 0) this.#lastError ??= 'no acknowledgement in time';
    if (this.#open.length > 0) this.#sweeping = setTimeout(() => this.#sweep(), SWEEP_MS);
  }

  #because(): string {
    return this.#lastError === undefined ? '' : `; last error: ${this.#lastError}`;
  }

  #settleAll(pending: readonly PendingRecord[], reason: () => Error): void {
    if (pending.length === 0) return;
    for (const record of pending) record.settle(reason());
    this.#sender.dropSettled();
  }

  /** Waits for pending records (at most `deadlineMs`, default 5,000), rejects the rest, and closes the connections. */
  async close(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#closed = true;
    this.#sender.flush();
    await until(() => this.#open.length === 0, options.deadlineMs ?? CLOSE_DEADLINE_MS);
    const unwritten = () => new Error(`closed before it was acknowledged${this.#because()}`);
    this.#settleAll([...this.#open], unwritten);
    clearTimeout(this.#lingering);
    clearTimeout(this.#sweeping);
    this.#sender.stop();
    await this.#connections.close();
  }
}
