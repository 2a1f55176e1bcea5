import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { PartitionMetadata } from 'kafkajs/src/cluster/index.js';
import type { Logger } from '../log.js';
import { backoffMs } from './backoff.js';
import type { Link } from './connect.js';
import { faultOf } from './faults.js';

export interface MetadataKeeperOptions {
  readonly link: Link;
  readonly log: Logger;
  readonly maxAgeMs: number;
  readonly onRefreshed: () => void;
  readonly onError: (error: unknown) => void;
}

/** Knows who leads a partition, and looks again when what it knew was wrong, or after `maxAgeMs`. */
export class MetadataKeeper {
  readonly #options: MetadataKeeperOptions;
  readonly #leaders = new WeakMap<PartitionMetadata[], Map<number, number>>();
  /** Topics whose partitions are not known yet. */
  readonly #wanted = new Set<string>();
  #refreshedAt = performance.now();
  #expired = false;
  /** A refresh is on its way, or rests before the next one. */
  #busy = false;
  #failures = 0;
  #stopped = false;

  constructor(options: MetadataKeeperOptions) {
    this.#options = options;
  }

  /** Undefined while it is not known, or there is none. */
  leaderOf(topic: string, partition: number): number | undefined {
    const known = this.#partitionsOf(topic);
    if (known === undefined) return undefined;
    let leaders = this.#leaders.get(known);
    if (leaders === undefined) {
      leaders = new Map(known.map(({ partitionId, leader }) => [partitionId, leader]));
      this.#leaders.set(known, leaders);
    }
    const leader = leaders.get(partition) ?? -1;
    return leader < 0 ? undefined : leader;
  }

  #partitionsOf(topic: string): PartitionMetadata[] | undefined {
    try {
      return this.#options.link.cluster.findTopicPartitionMetadata(topic);
    } catch {
      return undefined; // not loaded yet
    }
  }

  /** How many partitions a topic has; undefined while that is not known: then it is requested, and `onRefreshed` called afterwards. */
  countOf(topic: string): number | undefined {
    const count = this.#partitionsOf(topic)?.length ?? 0;
    if (count > 0) return count;
    this.#wanted.add(topic);
    this.expire();
    this.refreshIfDue();
    return undefined;
  }

  /** What is known may be wrong: it is refreshed at the next `refreshIfDue`. */
  expire(): void {
    this.#expired = true;
  }

  refreshIfDue(): void {
    const isOld = performance.now() - this.#refreshedAt > this.#options.maxAgeMs;
    if (this.#busy || this.#stopped || !(this.#expired || isOld)) return;
    this.#busy = true;
    this.#expired = false;
    this.#refresh().catch(this.#options.onError);
  }

  async #refresh(): Promise<void> {
    const { log, onRefreshed, onError } = this.#options;
    try {
      const faults = await this.#load();
      this.#failures = 0;
      this.#refreshedAt = performance.now();
      if (!this.#stopped) onRefreshed();
      for (const fault of faults) onError(fault);
    } catch (error) {
      this.#expired = true;
      this.#failures += 1;
      log('debug', 'kafka: metadata could not be refreshed', { ...faultOf(error) });
      if (!this.#stopped) onError(error);
    }
    await delay(backoffMs(Math.max(this.#failures, 1)), undefined, { ref: false });
    this.#busy = false;
    this.refreshIfDue();
  }

  /** Why a wanted topic is still not known. Each is requested by itself: kafkajs loads none of several when one is unknown. */
  async #load(): Promise<unknown[]> {
    const { cluster } = this.#options.link;
    const wanted = [...this.#wanted];
    this.#wanted.clear(); // who still needs it requests it again
    const added = await Promise.allSettled(wanted.map((topic) => cluster.addMultipleTargetTopics([topic])));
    await cluster.refreshMetadata();
    return added.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  }

  stop(): void {
    this.#stopped = true;
  }
}
