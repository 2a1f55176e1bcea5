import { setTimeout as delay } from 'node:timers/promises';
import type { PartitionMetadata, ProtocolRequest } from 'kafkajs/src/cluster/index.js';
import { dropConnections, type Connections } from './connections.js';
import type { TopicPartition } from '../record.js';
import { backoffMs } from '../retry.js';
import { faultOf } from '../faults.js';

export interface LeadersOptions<T extends TopicPartition> {
  readonly connections: Connections;
  readonly onError: (error: unknown) => void;
  /**
   * Sends one request to a broker for partitions that it leads. After a rejection the broker gets no request for up
   * to a second.
   */
  readonly request: (nodeId: number, led: readonly T[]) => Promise<void>;
  /** Called after each refresh of the metadata. */
  readonly onRefreshed: () => void;
  /** Called when a broker's request has ended, and after each refresh: there may be more to dispatch. */
  readonly onReady: () => void;
}

/** Pseudo broker id for loading the metadata. Real ids are 0 or more. */
const METADATA = -1;

const pause = (failures: number) => delay(backoffMs(failures), undefined, { ref: false });

/**
 * Tracks which broker leads each partition, and refreshes the metadata when it is wrong or old. Each broker has one
 * request at a time, and no broker waits for another.
 */
export class Leaders<T extends TopicPartition> {
  readonly #options: LeadersOptions<T>;
  /** Brokers with a request in flight or in a pause after a failure, and `METADATA` while the metadata is loaded. */
  readonly #busy = new Set<number>();
  /** Consecutive failures, by broker. */
  readonly #failures = new Map<number, number>();
  /** Topics whose partitions are not known yet. */
  readonly #wanted = new Set<string>();
  #refreshedAt = performance.now();
  /** Set by the owner at shutdown. Nothing is requested afterwards. */
  stopped = false;

  constructor(options: LeadersOptions<T>) {
    this.#options = options;
  }

  /**
   * Sends the wanted partitions to the leaders that have no request in flight. A partition without a leader waits
   * for the next refresh.
   */
  dispatch(wanted: Iterable<T>): void {
    if (this.stopped) return;
    for (const [leader, led] of Map.groupBy(wanted, (place) => this.#leaderOf(place))) {
      if (leader < 0) this.expire();
      else if (!this.#busy.has(leader)) this.#run(leader, () => this.#options.request(leader, led));
    }
    this.#refreshIfDue();
  }

  /** Returns the id of the partition's leader; -1 when the leader is unknown or there is none. */
  #leaderOf({ topic, partition }: TopicPartition): number {
    return this.#partitionsOf(topic).find(({ partitionId }) => partitionId === partition)?.leader ?? -1;
  }

  #partitionsOf(topic: string): readonly PartitionMetadata[] {
    try {
      return this.#options.connections.cluster.findTopicPartitionMetadata(topic);
    } catch {
      return []; // not loaded yet
    }
  }

  /**
   * Runs one request to a broker, or one load of the metadata. After a failure the broker gets no request during a
   * pause.
   */
  #run(id: number, work: () => Promise<void>): void {
    const { onReady, onError } = this.#options;
    this.#busy.add(id);
    const succeeded = () => void this.#failures.delete(id);
    work()
      .then(succeeded, (error: unknown) => this.#failed(id, error))
      .then(() => {
        this.#busy.delete(id);
        if (!this.stopped) onReady();
      })
      .catch(onError);
  }

  async #failed(id: number, error: unknown): Promise<void> {
    if (this.stopped) return;
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    this.#options.connections.log('debug', 'kafka: a request failed', {
      nodeId: id,
      failures,
      ...faultOf(error),
    });
    this.#options.onError(error);
    this.expire();
    await pause(failures);
  }

  /** Sends a request to a broker. After a failure its connections are dropped. */
  async send<Response>(nodeId: number, request: ProtocolRequest<Response>): Promise<Response> {
    const broker = await this.#options.connections.cluster.findBroker({ nodeId });
    return broker.connectionPool.send(request).catch((error: unknown) => {
      dropConnections(broker, 'a request failed');
      throw error;
    });
  }

  /**
   * Returns how many partitions a topic has; 0 while that is unknown. Then the metadata is requested, and
   * `onRefreshed` is called afterwards.
   */
  countOf(topic: string): number {
    const count = this.#partitionsOf(topic).length;
    if (count > 0) return count;
    this.#wanted.add(topic);
    this.expire();
    this.#refreshIfDue();
    return 0;
  }

  /** Marks the metadata as possibly wrong, so that it is refreshed soon. */
  expire(): void {
    this.#refreshedAt = -Infinity;
  }

  #refreshIfDue(): void {
    const ageMs = performance.now() - this.#refreshedAt;
    if (this.#busy.has(METADATA) || ageMs <= this.#options.connections.metadataMaxAgeMs) return;
    this.#refreshedAt = performance.now();
    this.#run(METADATA, () => this.#refresh());
  }

  async #refresh(): Promise<void> {
    const { onRefreshed, onReady, onError } = this.#options;
    const faults = await this.#load();
    if (this.stopped) return;
    onRefreshed();
    onReady();
    for (const fault of faults) onError(fault);
    await pause(1);
  }

  /**
   * Loads the metadata. Returns the faults for which wanted topics are still unknown. Each topic is added
   * separately: kafkajs adds none of several topics when one is refused.
   */
  async #load(): Promise<unknown[]> {
    const { cluster } = this.#options.connections;
    const wanted = [...this.#wanted];
    this.#wanted.clear(); // a topic that is still needed is requested again
    const added = await Promise.allSettled(wanted.map((topic) => cluster.addMultipleTargetTopics([topic])));
    await cluster.refreshMetadata();
    const refused = added.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    const unknown = wanted.filter((topic) => this.#partitionsOf(topic).length === 0);
    return [...unknown.map((topic) => new Error(`the brokers do not know the topic ${topic}`)), ...refused];
  }
}
