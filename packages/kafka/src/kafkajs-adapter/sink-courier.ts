import type { Logger } from '../log.js';
import type { PendingRecord } from '../pending-record.js';
import type { BatchBounds, SinkLane } from '../sink-lane.js';
import { RecordRefused } from '../sink-types.js';
import { verdictOf } from '../sink-verdict.js';
import { backoffMs } from './backoff.js';
import { dropConnections, type Link } from './connect.js';
import { errorName } from '../protocol/errors.js';
import { faultOf } from './faults.js';
import { createMetadataKeeper, type MetadataKeeper } from './metadata-keeper.js';
import { produceRequest, type PartitionAck } from '../protocol/produce-protocol.js';
import { encodeBatch } from '../protocol/record-batch.js';

export interface SinkCourierOptions {
  readonly link: Link;
  readonly log: Logger;
  readonly lanes: ReadonlyMap<string, SinkLane>;
  readonly bounds: BatchBounds;
  /** Partitions may be known now that were not. */
  readonly onMetadata: () => void;
  readonly onError: (error: unknown) => void;
  /** The brokers answer, and take what they are given. */
  readonly onWell: () => void;
}

interface Parcel {
  readonly lane: SinkLane;
  readonly batch: PendingRecord[];
}

const METADATA_MAX_AGE_MS = 60_000;

/**
 * Brings what waits in the lanes to the brokers that lead them. One request for each broker at a time: order within a
 * partition is kept, also through retries, and what arrives meanwhile becomes the next batch.
 */
export class SinkCourier {
  readonly #options: SinkCourierOptions;
  readonly #metadata: MetadataKeeper;
  readonly #busy = new Set<number>();
  readonly #failures = new Map<number, number>();
  #planned = false;
  #stopped = false;
  #turn = 0;

  constructor(options: SinkCourierOptions) {
    this.#options = options;
    this.#metadata = createMetadataKeeper({
      link: options.link,
      maxAgeMs: METADATA_MAX_AGE_MS,
      log: options.log,
      onRefreshed: () => {
        options.onWell();
        options.onMetadata();
        this.go();
      },
      onError: options.onError,
    });
  }

  /** How many partitions the topic has; undefined while it is not known: see `onMetadata`. */
  partitionsOf(topic: string): number | undefined {
    return this.#metadata.countOf(topic);
  }

  /** Something waits. Calls within one turn are one. */
  go(): void {
    if (this.#planned || this.#stopped) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      if (!this.#stopped) this.#departAll();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#metadata.stop();
  }

  #departAll(): void {
    const byLeader = new Map<number, SinkLane[]>();
    for (const lane of this.#options.lanes.values()) {
      if (lane.length === 0) continue;
      const leader = this.#metadata.leaderOf(lane.topic, lane.partition);
      if (leader === undefined) this.#metadata.expire();
      else byLeader.set(leader, [...(byLeader.get(leader) ?? []), lane]);
    }
    this.#metadata.refreshIfDue();
    for (const [nodeId, lanes] of byLeader) {
      if (!this.#busy.has(nodeId)) this.#depart(nodeId, lanes);
    }
  }

  #depart(nodeId: number, lanes: SinkLane[]): void {
    const parcels: Parcel[] = [];
    let room = this.#options.bounds.maxRecords;
    const first = this.#turn++ % lanes.length;
    for (const lane of [...lanes.slice(first), ...lanes.slice(0, first)]) {
      if (room <= 0) break;
      const batch = lane.takeBatch({ ...this.#options.bounds, maxRecords: room });
      room -= batch.length;
      if (batch.length > 0) parcels.push({ lane, batch });
    }
    if (parcels.length === 0) return;
    this.#busy.add(nodeId);
    this.#bring(nodeId, parcels)
      .then((retry) => this.#arrived(nodeId, retry))
      .catch((error: unknown) => this.#lost(nodeId, parcels, error));
  }

  /** True when something has to be brought again. */
  async #bring(nodeId: number, parcels: Parcel[]): Promise<boolean> {
    const broker = await this.#options.link.cluster.findBroker({ nodeId });
    const batches = parcels.map(({ lane: { topic, partition }, batch }) => ({
      topic,
      partition,
      batch: encodeBatch(batch),
    }));
    try {
      const { acks } = await broker.connectionPool.send(produceRequest(batches));
      return this.#settle(parcels, acks);
    } catch (error) {
      dropConnections(broker, 'a produce request failed');
      throw error;
    }
  }

  #settle(parcels: Parcel[], acks: readonly PartitionAck[]): boolean {
    const codes = new Map(acks.map((ack) => [`${ack.topic}/${ack.partition}`, ack.errorCode]));
    let retry = false;
    for (const parcel of parcels) {
      const { topic, partition } = parcel.lane;
      const code = codes.get(`${topic}/${partition}`);
      if (code === undefined) throw new Error(`no acknowledgement for ${topic}/${partition}`);
      retry = this.#conclude(parcel, code) || retry;
    }
    return retry;
  }

  #conclude({ lane, batch }: Parcel, code: number): boolean {
    const verdict = verdictOf(code);
    if (verdict === 'written') {
      for (const record of batch) record.settle();
      return false;
    }
    const error = new RecordRefused(code, errorName(code), lane.topic);
    if (verdict === 'again') {
      this.#options.onError(error);
      this.#metadata.expire();
      lane.putBack(batch);
      return true;
    }
    if (verdict === 'refused' || batch.length === 1) {
      for (const record of batch) record.settle(error);
      return false;
    }
    const half = Math.floor(batch.length / 2);
    for (const record of batch) record.maxGroup = half;
    lane.putBack(batch);
    return false;
  }

  #arrived(nodeId: number, retry: boolean): void {
    if (retry) return this.#waitABit(nodeId);
    this.#failures.delete(nodeId);
    this.#options.onWell();
    this.#busy.delete(nodeId);
    this.go();
  }

  /** No answer: whether the batches were written is unknown, so they are brought again (at least once). */
  #lost(nodeId: number, parcels: Parcel[], error: unknown): void {
    for (const { lane, batch } of parcels) lane.putBack(batch);
    this.#options.onError(error);
    this.#options.log('debug', 'kafka: a produce request failed', { nodeId, ...faultOf(error) });
    this.#metadata.expire();
    this.#waitABit(nodeId);
  }

  #waitABit(nodeId: number): void {
    const failures = (this.#failures.get(nodeId) ?? 0) + 1;
    this.#failures.set(nodeId, failures);
    setTimeout(() => {
      this.#busy.delete(nodeId);
      this.go();
    }, backoffMs(failures)).unref();
  }
}
