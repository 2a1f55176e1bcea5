import { performance } from 'node:perf_hooks';
import { openLinkOf } from './kafkajs-adapter/create-kafka.js';
import { within } from './deadline.js';
import { heldBytes, isPending, toPending, type PendingRecord } from './pending-record.js';
import { SinkCourier } from './kafkajs-adapter/sink-courier.js';
import { SinkLane } from './sink-lane.js';
import { SinkClosed, SinkOverloaded, SinkTimeout } from './sink-types.js';
import type { OutgoingRecord, SendOptions, Sink, SinkOptions } from './sink-types.js';
import type { Link } from './kafkajs-adapter/connect.js';
import { asError } from './protocol/errors.js';
import { partitionOf } from './protocol/murmur2.js';

const DEFAULTS = {
  lingerMs: 2,
  maxBatchRecords: 1_000,
  maxBatchBytes: 900 * 1024,
  maxPendingBytes: 64 * 1024 * 1024,
};
const DEADLINE_MS = 30_000;
const CLOSE_DEADLINE_MS = 5_000;
/** How late a deadline may be noticed: one timer looks after all of them. */
const SWEEP_MS = 50;
const METADATA_MAX_AGE_MS = 60_000;

/** Resolves at once: the first connection is made in the background, and a missing broker is a matter of deadlines. */
export function openSink(options: SinkOptions): Promise<Sink> {
  return Promise.resolve(new BatchingSink(options));
}

class BatchingSink implements Sink {
  readonly #settings: typeof DEFAULTS;
  readonly #link: Link;
  readonly #lanes = new Map<string, SinkLane>();
  readonly #courier: SinkCourier;
  /** Records whose topic is not known yet. */
  #unplaced: PendingRecord[] = [];
  /** All that is pending. A list: a Set would keep what it held until the next full collection. */
  readonly #open = new Set<PendingRecord>();
  #pendingBytes = 0;
  #lastError: string | undefined;
  #lingering: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #closed = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: SinkOptions) {
    const { kafka, ...settings } = options;
    this.#settings = { ...DEFAULTS, ...settings };
    this.#link = openLinkOf(kafka, METADATA_MAX_AGE_MS);
    const onError = (error: unknown) => {
      this.#lastError = asError(error).message;
    };
    const bounds = { maxRecords: this.#settings.maxBatchRecords, maxBytes: this.#settings.maxBatchBytes };
    const onWell = () => {
      this.#lastError = undefined;
    };
    const link = this.#link;
    const { log } = kafka;
    const onMetadata = () => this.#placeAll();
    this.#courier = new SinkCourier({ link, log, lanes: this.#lanes, bounds, onMetadata, onError, onWell });
  }

  send(record: OutgoingRecord, options: SendOptions = {}): Promise<void> {
    return this.sendMany([record], options);
  }

  sendMany(records: readonly OutgoingRecord[], options: SendOptions = {}): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    const deadlineAt = performance.now() + (options.deadlineMs ?? DEADLINE_MS);
    return new Promise((resolve, reject) => {
      let open = records.length;
      let failure: Error | undefined;
      const settle = (error?: Error) => {
        failure ??= error;
        open -= 1;
        if (open > 0) return;
        if (failure) reject(failure);
        else resolve();
      };
      for (const record of records) this.#enqueue(record, deadlineAt, settle);
    });
  }

  health() {
    const base = { pendingRecords: this.#open.size, pendingBytes: this.#pendingBytes };
    return this.#lastError === undefined ? base : { ...base, lastError: this.#lastError };
  }

  #enqueue(record: OutgoingRecord, deadlineAt: number, settle: (error?: Error) => void): void {
    const refusal = this.#refusal();
    if (refusal) return settle(refusal);
    let pending: PendingRecord;
    try {
      pending = toPending(record, deadlineAt, (error) => this.#settled(pending, settle, error));
    } catch (error) {
      return settle(asError(error));
    }
    this.#open.add(pending);
    this.#pendingBytes += heldBytes(pending);
    this.#place(pending);
    this.#linger();
    this.#sweeping ??= setTimeout(() => this.#sweep(), SWEEP_MS);
  }

  #refusal(): Error | undefined {
    if (this.#closed) return new SinkClosed('the sink is closed');
    if (this.#pendingBytes < this.#settings.maxPendingBytes) return undefined;
    return new SinkOverloaded(`${this.#pendingBytes} bytes wait for Kafka already`);
  }

  #settled(pending: PendingRecord, settle: (error?: Error) => void, error?: Error): void {
    if (!this.#open.delete(pending)) return;
    pending.isSettled = true;
    this.#pendingBytes -= heldBytes(pending);
    settle(error);
    if (this.#open.size === 0) this.#onEmpty?.();
  }

  #place(pending: PendingRecord): void {
    const partitions = this.#courier.partitionsOf(pending.topic);
    if (partitions === undefined) {
      this.#unplaced.push(pending);
      return;
    }
    const partition = pending.partition ?? partitionOf(pending.key ?? Buffer.alloc(0), partitions);
    const name = `${pending.topic}/${partition}`;
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new SinkLane(pending.topic, partition);
      this.#lanes.set(name, lane);
    }
    lane.push(pending);
  }

  #placeAll(): void {
    const unplaced = this.#unplaced;
    this.#unplaced = [];
    for (const pending of unplaced) this.#place(pending);
  }

  /** The first record waits `lingerMs` for company; a full batch goes at once. */
  #linger(): void {
    if (this.#open.size >= this.#settings.maxBatchRecords || this.#settings.lingerMs <= 0) {
      this.#courier.go();
      return;
    }
    this.#lingering ??= setTimeout(() => {
      this.#lingering = undefined;
      this.#courier.go();
    }, this.#settings.lingerMs);
  }

  #sweep(): void {
    this.#sweeping = undefined;
    const now = performance.now();
    const expired = (pending: PendingRecord) => pending.deadlineAt <= now;
    const pending = this.#open.size;
    this.#giveUp(expired, () => new SinkTimeout(`no acknowledgement in time${this.#because()}`));
    if (this.#open.size < pending) this.#lastError ??= 'no acknowledgement in time';
    if (this.#open.size > 0) this.#sweeping = setTimeout(() => this.#sweep(), SWEEP_MS);
  }

  #because(): string {
    return this.#lastError === undefined ? '' : `; last error: ${this.#lastError}`;
  }

  #giveUp(which: (pending: PendingRecord) => boolean, reason: () => Error): void {
    const due: PendingRecord[] = [];
    for (const pending of this.#open) if (which(pending)) due.push(pending);
    if (due.length === 0) return;
    for (const pending of due) pending.settle(reason());
    for (const lane of this.#lanes.values()) lane.dropSettled();
    this.#unplaced = this.#unplaced.filter(isPending);
  }

  /** Resolves when nothing is pending, or at the deadline. */
  async #empty(deadlineMs: number): Promise<void> {
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    await within(emptied, deadlineMs);
    this.#giveUp(
      () => true,
      () => new SinkClosed(`closed before it was acknowledged${this.#because()}`),
    );
  }

  async close(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#closed = true;
    this.#courier.go();
    if (this.#open.size > 0) await this.#empty(options.deadlineMs ?? CLOSE_DEADLINE_MS);
    clearTimeout(this.#lingering);
    clearTimeout(this.#sweeping);
    this.#courier.stop();
    await this.#link.close();
  }
}
