import { createErrorFromCode, failure, type Connections } from '../kafkajs/connections.js';
import { isPending, type PendingRecord, RecordRefused } from './pending-record.js';
import { partitionOf, encodeBatch, RECORD_OVERHEAD_BYTES } from '../wire/record-batch.js';
import { produceRequest } from '../wire/protocol.js';
import type { TopicPartition } from '../record.js';
import { Leaders } from '../kafkajs/leaders.js';
import { MAX_BATCH_BYTES } from '../limits.js';

export interface SenderOptions {
  readonly connections: Connections;
  /** Most records of one request. */
  readonly maxBatchRecords: number;
  /** Called with the latest fault, and with undefined when the brokers accept records. */
  readonly onState: (error?: unknown) => void;
}

/** Errors that a single record of a batch may cause. The batch is split to find that record. */
const SINGLE_RECORD_ERRORS = new Set([
  'CORRUPT_MESSAGE',
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TIMESTAMP',
  'INVALID_RECORD',
]);

/**
 * Kafka's error code (protocol guide, "Error Codes") that is used for a partition missing in the response. Its batch
 * is sent again.
 */
const REQUEST_TIMED_OUT = 7;

/** The records that wait to be sent to one partition. */
interface ProduceQueue extends TopicPartition {
  readonly name: string;
  /** In order of arrival. All are pending, so `take` always returns at least one record. */
  waiting: PendingRecord[];
  /**
   * Most records of a batch. It is halved when a batch is refused for a single record, and doubled with each written
   * batch.
   */
  limit: number;
  /** Set when a batch was refused for a transient reason. The queue then waits for the next refresh of the metadata. */
  isPaused: boolean;
}

/** Removes the longest batch within the bounds from the front: at least one record, however large. */
function take({ waiting, limit }: ProduceQueue, maxRecords: number): PendingRecord[] {
  let bytes = 0;
  const end = waiting.findIndex(({ body }, count) => {
    bytes += body.length + RECORD_OVERHEAD_BYTES;
    return count > 0 && (count >= maxRecords || count >= limit || bytes > MAX_BATCH_BYTES);
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

function putBack({ queue, records }: Batch): void {
  queue.waiting = [...records, ...queue.waiting].filter(isPending);
}

interface Batch {
  readonly queue: ProduceQueue;
  readonly records: PendingRecord[];
}

/**
 * Sends waiting records to the leaders of their partitions until each is acknowledged, refused or expired. Each
 * broker has one request at a time; records that arrive meanwhile become the next batch. No broker waits for
 * another, and no partition for one that refuses records.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #leaders: Leaders<ProduceQueue>;
  readonly #queues = new Map<string, ProduceQueue>();
  /** Records whose topic is not known yet. */
  #unplaced: PendingRecord[] = [];
  #planned = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#leaders = new Leaders({
      connections: options.connections,
      request: (nodeId, queues: readonly ProduceQueue[]) => this.#sendBatches(nodeId, queues),
      onRefreshed: () => {
        for (const queue of this.#queues.values()) queue.isPaused = false;
        for (const record of this.#unplaced.splice(0)) this.add(record);
        // Waiting records will show whether the brokers accept them.
        if (this.#isIdle) options.onState();
      },
      onReady: () => this.flush(),
      onError: options.onState,
    });
  }

  /** Adds a record to its partition's queue. The next `flush` sends it. */
  add(record: PendingRecord): void {
    const { topic, key } = record;
    const partitions = this.#leaders.countOf(topic);
    if (partitions === 0) return void this.#unplaced.push(record);
    const partition = record.partition ?? partitionOf(key ?? Buffer.alloc(0), partitions);
    const name = `${topic}/${partition}`;
    const fresh = { topic, partition, name, waiting: [], limit: Infinity, isPaused: false };
    const queue: ProduceQueue = this.#queues.get(name) ?? fresh;
    this.#queues.set(name, queue);
    queue.waiting.push(record);
  }

  get #isIdle(): boolean {
    return (
      this.#unplaced.length === 0 && [...this.#queues.values()].every(({ waiting }) => waiting.length === 0)
    );
  }

  /** Sends waiting records in the next turn of the event loop. Several calls before then count as one. */
  flush(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      const queues = [...this.#queues.values()];
      this.#leaders.dispatch(queues.filter(({ waiting, isPaused }) => waiting.length > 0 && !isPaused));
    });
  }

  /** Drops records that were settled without an acknowledgement. */
  dropSettled(): void {
    for (const queue of this.#queues.values()) queue.waiting = queue.waiting.filter(isPending);
    this.#unplaced = this.#unplaced.filter(isPending);
  }

  stop(): void {
    this.#leaders.stopped = true;
  }

  async #sendBatches(nodeId: number, queues: readonly ProduceQueue[]): Promise<void> {
    const batches = this.#takeBatches(queues);
    const codes = await this.#produce(nodeId, batches).catch((error: unknown) => {
      // It is unknown whether the batches were written, so they are sent again (at least once).
      for (const batch of batches) putBack(batch);
      throw error;
    });
    const faults = batches.map((batch) => conclude(batch, codes.get(batch.queue.name)));
    this.#options.onState(faults.find((fault) => fault !== undefined));
    if (batches.some(({ queue }) => queue.isPaused)) this.#leaders.expire();
  }

  /** Takes a batch from each queue within the request's bound. Round robin: a served queue goes to the end. */
  #takeBatches(queues: readonly ProduceQueue[]): Batch[] {
    const batches: Batch[] = [];
    let capacity = this.#options.maxBatchRecords;
    for (const queue of queues) {
      if (capacity <= 0) break;
      const records = take(queue, capacity);
      capacity -= records.length;
      batches.push({ queue, records });
      this.#queues.delete(queue.name);
      this.#queues.set(queue.name, queue);
    }
    return batches;
  }

  /** Sends the batches. Resolves with the error code of each partition, by the name of its queue. */
  async #produce(nodeId: number, batches: readonly Batch[]): Promise<ReadonlyMap<string, number>> {
    const request = produceRequest(
      batches.map(({ queue: { topic, partition }, records }) => ({
        topic,
        partition,
        batch: encodeBatch(records),
      })),
    );
    const { acks } = await this.#leaders.send(nodeId, request);
    return new Map(acks.map(({ topic, partition, errorCode }) => [`${topic}/${partition}`, errorCode]));
  }
}

/**
 * Settles the records of a batch, or puts them back into the queue. Returns the transient fault for which they were
 * put back.
 */
function conclude(batch: Batch, code = REQUEST_TIMED_OUT): Error | undefined {
  if (failure(code)) return refuse(batch, code);
  batch.queue.limit *= 2;
  for (const record of batch.records) record.settle();
  return undefined;
}

function refuse(batch: Batch, code: number): Error | undefined {
  const { queue, records } = batch;
  const { type, retriable } = createErrorFromCode(code);
  const refusal = new RecordRefused(code, type, queue.topic);
  const isSingleRecordError = SINGLE_RECORD_ERRORS.has(type);
  if (isSingleRecordError && records.length > 1) {
    queue.limit = records.length >>> 1;
    putBack(batch);
    return undefined;
  }
  if (retriable && !isSingleRecordError) {
    putBack(batch);
    queue.isPaused = true;
    return refusal;
  }
  for (const record of records) record.settle(refusal);
  return undefined;
}
