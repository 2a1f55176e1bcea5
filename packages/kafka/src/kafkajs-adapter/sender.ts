import { setTimeout as delay } from 'node:timers/promises';
import { createErrorFromCode, failure } from 'kafkajs/src/protocol/error.js';
import type { Logger } from '../log.js';
import { isPending, type PendingRecord } from '../pending-record.js';
import { partitionOf } from '../protocol/murmur2.js';
import { produceRequest, type PartitionAck } from '../protocol/produce-protocol.js';
import { encodeBatch } from '../protocol/record-batch.js';
import { RecordRefused } from '../sink-types.js';
import { backoffMs } from './backoff.js';
import { dropConnections, type Link } from './connect.js';
import { faultOf } from './faults.js';
import { MetadataKeeper } from './metadata-keeper.js';

export interface SenderOptions {
  readonly link: Link;
  readonly log: Logger;
  /** Records of one request. */
  readonly maxBatchRecords: number;
  /** What went wrong last; undefined: the brokers respond, and take what they are given. */
  readonly onState: (error?: unknown) => void;
}

/** New partitions are used after that at the latest; moved leaders are noticed by their refusals. */
export const METADATA_MAX_AGE_MS = 60_000;
/** Bytes of one partition's batch: below the broker's default limit of 1 MiB. A larger record goes alone. */
const MAX_BATCH_BYTES = 900 * 1024;

/** One record of the batch may be the reason: its neighbours are sent without it. */
const OF_ONE_RECORD = new Set([
  'CORRUPT_MESSAGE',
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TIMESTAMP',
  'INVALID_RECORD',
]);

/** What waits for one partition, in order. */
class ProduceQueue {
  readonly topic: string;
  readonly partition: number;
  /** Batches that were not written, ahead of the rest. */
  #unwritten: PendingRecord[][] = [];
  #waiting: PendingRecord[] = [];

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  get isEmpty(): boolean {
    return this.#unwritten.length === 0 && this.#waiting.length === 0;
  }

  push(record: PendingRecord): void {
    this.#waiting.push(record);
  }

  putBack(...batches: PendingRecord[][]): void {
    this.#unwritten.unshift(...batches);
    this.dropSettled();
  }

  /** A batch of which nothing is left goes, too: what a queue holds is pending, so that `take` returns something to send. */
  dropSettled(): void {
    const unwritten = this.#unwritten.map((batch) => batch.filter(isPending));
    this.#unwritten = unwritten.filter((batch) => batch.length > 0);
    this.#waiting = this.#waiting.filter(isPending);
  }

  /** The longest batch from the front that keeps the bounds; at least one record, however large. */
  take(maxRecords: number): PendingRecord[] {
    const unwritten = this.#unwritten.shift();
    if (unwritten !== undefined) return unwritten;
    let bytes = 0;
    const end = this.#waiting.findIndex((record, count) => {
      bytes += record.size;
      return count > 0 && (count >= maxRecords || bytes > MAX_BATCH_BYTES);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }
}

interface Batch {
  readonly queue: ProduceQueue;
  readonly records: PendingRecord[];
}

/**
 * Sends what waits to the brokers that lead its partitions, again and again until it is acknowledged, refused or settled otherwise.
 * One request for each broker at a time: order within a partition is kept, also through retries, and what arrives meanwhile
 * becomes the next batch. No broker waits for another.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #metadata: MetadataKeeper;
  readonly #queues = new Map<string, ProduceQueue>();
  /** Records whose topic is not known yet. */
  #unplaced: PendingRecord[] = [];
  /** Brokers that have a request, or rest after a failure. */
  readonly #busy = new Set<number>();
  readonly #failures = new Map<number, number>();
  #planned = false;
  #stopped = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#metadata = new MetadataKeeper({
      link: options.link,
      log: options.log,
      maxAgeMs: METADATA_MAX_AGE_MS,
      onRefreshed: () => {
        options.onState();
        for (const record of this.#unplaced.splice(0)) this.add(record);
        this.flush();
      },
      onError: options.onState,
    });
  }

  /** Takes a record to its queue; it is sent with the next `flush`. */
  add(record: PendingRecord): void {
    const { topic, key } = record;
    const partitions = this.#metadata.countOf(topic);
    if (partitions === undefined) return void this.#unplaced.push(record);
    const partition = record.partition ?? partitionOf(key ?? Buffer.alloc(0), partitions);
    const name = `${topic}/${partition}`;
    const queue = this.#queues.get(name) ?? new ProduceQueue(topic, partition);
    this.#queues.set(name, queue);
    queue.push(record);
  }

  /** Something waits. Calls within one turn of the event loop are one. */
  flush(): void {
    if (this.#planned || this.#stopped) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      if (!this.#stopped) this.#sendAll();
    });
  }

  /** Forgets what was settled without an acknowledgement. */
  dropSettled(): void {
    for (const queue of this.#queues.values()) queue.dropSettled();
    this.#unplaced = this.#unplaced.filter(isPending);
  }

  stop(): void {
    this.#stopped = true;
    this.#metadata.stop();
  }

  #sendAll(): void {
    const waiting = [...this.#queues.values()].filter(({ isEmpty }) => !isEmpty);
    const byLeader = Map.groupBy(waiting, (queue) => this.#metadata.leaderOf(queue.topic, queue.partition));
    for (const [leader, queues] of byLeader) {
      if (leader === undefined) this.#metadata.expire();
      else if (!this.#busy.has(leader)) this.#sendTo(leader, queues).catch(this.#options.onState);
    }
    this.#metadata.refreshIfDue();
  }

  async #sendTo(nodeId: number, queues: readonly ProduceQueue[]): Promise<void> {
    const batches = this.#takeBatches(queues);
    this.#busy.add(nodeId);
    const fault = await this.#request(nodeId, batches).catch((error: unknown) => {
      // Whether the batches were written is unknown, so they are sent again (at least once).
      for (const { queue, records } of batches) queue.putBack(records);
      this.#options.log('debug', 'kafka: a produce request failed', { nodeId, ...faultOf(error) });
      return error;
    });
    this.#options.onState(fault);
    if (fault === undefined) this.#failures.delete(nodeId);
    else await this.#rest(nodeId);
    this.#busy.delete(nodeId);
    this.flush();
  }

  /** Queues take turns: who was served is the last one. */
  #takeBatches(queues: readonly ProduceQueue[]): Batch[] {
    const batches: Batch[] = [];
    let capacity = this.#options.maxBatchRecords;
    for (const queue of queues) {
      if (capacity <= 0) break;
      const records = queue.take(capacity);
      capacity -= records.length;
      batches.push({ queue, records });
      const name = `${queue.topic}/${queue.partition}`;
      this.#queues.delete(name);
      this.#queues.set(name, queue);
    }
    return batches;
  }

  /** Resolves with why something has to be sent again; undefined when nothing has. */
  async #request(nodeId: number, batches: readonly Batch[]): Promise<Error | undefined> {
    const broker = await this.#options.link.cluster.findBroker({ nodeId });
    const request = produceRequest(
      batches.map(({ queue: { topic, partition }, records }) => ({
        topic,
        partition,
        batch: encodeBatch(records),
      })),
    );
    const { acks } = await broker.connectionPool.send(request).catch((error: unknown) => {
      dropConnections(broker, 'a produce request failed');
      throw error;
    });
    const codes = new Map(acks.map((ack: PartitionAck) => [`${ack.topic}/${ack.partition}`, ack.errorCode]));
    const acknowledged = batches.map((batch) => {
      const name = `${batch.queue.topic}/${batch.queue.partition}`;
      const code = codes.get(name);
      if (code === undefined) throw new Error(`no acknowledgement for ${name}`);
      return { batch, code };
    });
    // Only when all have one: what is put back for a missing one is put back once.
    return acknowledged.map(({ batch, code }) => conclude(batch, code)).find((fault) => fault !== undefined);
  }

  async #rest(nodeId: number): Promise<void> {
    const failures = (this.#failures.get(nodeId) ?? 0) + 1;
    this.#failures.set(nodeId, failures);
    this.#metadata.expire();
    await delay(backoffMs(failures), undefined, { ref: false });
  }
}

/** Settles the records, or puts them back. Returns the passing fault that made it so. */
function conclude(batch: Batch, code: number): Error | undefined {
  if (failure(code)) return refuse(batch, code);
  for (const record of batch.records) record.settle();
  return undefined;
}

function refuse({ queue, records }: Batch, code: number): Error | undefined {
  const { type, retriable } = createErrorFromCode(code);
  const isOfOneRecord = OF_ONE_RECORD.has(type);
  if (isOfOneRecord && records.length > 1) {
    const half = records.length >>> 1;
    queue.putBack(records.slice(0, half), records.slice(half));
    return undefined;
  }
  const refusal = new RecordRefused(code, type, queue.topic);
  if (retriable && !isOfOneRecord) {
    queue.putBack(records);
    return refusal;
  }
  for (const record of records) record.settle(refusal);
  return undefined;
}
