import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { PartitionMetadata, ProtocolRequest } from 'kafkajs/src/cluster/index.js';
import { type Logger, dropConnections, type Link } from './link.js';
import type { TopicPartition } from '../record.js';
import { backoffMs } from '../retry.js';
import { faultOf } from '../faults.js';

/** What is given to whoever sends requests to brokers. */
export interface LinkUse {
  readonly link: Link;
  readonly log: Logger;
  /** New partitions and moved leaders are noticed after that at the latest. */
  readonly metadataMaxAgeMs: number;
  readonly onError: (error: unknown) => void;
}

export interface LeadersOptions<T extends TopicPartition> extends LinkUse {
  /** One request to a broker for partitions that it leads. When it rejects, the broker is left alone for a while. */
  readonly request: (nodeId: number, led: readonly T[]) => Promise<void>;
  readonly onRefreshed: () => void;
  /** A broker has no request any more, or the metadata was refreshed: there may be something to dispatch. */
  readonly onReady: () => void;
}

/** Stands for the loading of metadata among the ids of brokers, which are 0 or more. */
const METADATA = -1;

const rest = (failures: number) => delay(backoffMs(failures), undefined, { ref: false });

/**
 * Knows who leads a partition, and looks again when what it knew was wrong, or is old. Each broker has one request at a time, and
 * none waits for another.
 */
export class Leaders<T extends TopicPartition> {
  readonly #options: LeadersOptions<T>;
  /** Brokers that have a request, or rest after a failure; `METADATA` while that is loaded. */
  readonly #busy = new Set<number>();
  /** Consecutive failures, by broker. */
  readonly #failures = new Map<number, number>();
  /** Topics whose partitions are not known yet. */
  readonly #wanted = new Set<string>();
  #refreshedAt = performance.now();
  /** Set at the end: nothing is requested any more. */
  stopped = false;

  constructor(options: LeadersOptions<T>) {
    this.#options = options;
  }

  /** Requests what is wanted of each broker that has no request. What has no leader waits for the next refresh. */
  dispatch(wanted: Iterable<T>): void {
    if (this.stopped) return;
    for (const [leader, led] of Map.groupBy(wanted, (place) => this.#leaderOf(place))) {
      if (leader < 0) this.expire();
      else if (!this.#busy.has(leader)) this.#run(leader, () => this.#options.request(leader, led));
    }
    this.#refreshIfDue();
  }

  /** -1 when it is not known, or there is none. */
  #leaderOf({ topic, partition }: TopicPartition): number {
    return this.#partitionsOf(topic).find(({ partitionId }) => partitionId === partition)?.leader ?? -1;
  }

  #partitionsOf(topic: string): readonly PartitionMetadata[] {
    try {
      return this.#options.link.cluster.findTopicPartitionMetadata(topic);
    } catch {
      return []; // not loaded yet
    }
  }

  /** One at a time for each broker and for the metadata. Where it failed, the next one comes after a rest. */
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
    this.#options.log('debug', 'kafka: a request failed', { nodeId: id, failures, ...faultOf(error) });
    this.#options.onError(error);
    this.expire();
    await rest(failures);
  }

  async send<Response>(nodeId: number, request: ProtocolRequest<Response>): Promise<Response> {
    const broker = await this.#options.link.cluster.findBroker({ nodeId });
    return broker.connectionPool.send(request).catch((error: unknown) => {
      dropConnections(broker, 'a request failed');
      throw error;
    });
  }

  /** How many partitions a topic has; 0 while that is not known: then it is requested, and `onRefreshed` called afterwards. */
  countOf(topic: string): number {
    const count = this.#partitionsOf(topic).length;
    if (count > 0) return count;
    this.#wanted.add(topic);
    this.expire();
    this.#refreshIfDue();
    return 0;
  }

  /** What is known may be wrong: it is refreshed soon. */
  expire(): void {
    this.#refreshedAt = -Infinity;
  }

  #refreshIfDue(): void {
    const ageMs = performance.now() - this.#refreshedAt;
    if (this.#busy.has(METADATA) || ageMs <= this.#options.metadataMaxAgeMs) return;
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
    await rest(1);
  }

  /** Why a wanted topic is still not known. Each is requested by itself: kafkajs loads none of several when one is refused. */
  async #load(): Promise<unknown[]> {
    const { cluster } = this.#options.link;
    const wanted = [...this.#wanted];
    this.#wanted.clear(); // who still needs it requests it again
    const added = await Promise.allSettled(wanted.map((topic) => cluster.addMultipleTargetTopics([topic])));
    await cluster.refreshMetadata();
    const refused = added.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    const unknown = wanted.filter((topic) => this.#partitionsOf(topic).length === 0);
    return [...unknown.map((topic) => new Error(`the brokers do not know the topic ${topic}`)), ...refused];
  }
}
