import { performance } from 'node:perf_hooks';
import type { PartitionMetadata } from 'kafkajs/src/cluster/index.js';
import type { Logger } from '../log.js';
import { backoffMs } from './backoff.js';
import type { Link } from './connect.js';
import { faultOf } from './faults.js';

export interface MetadataKeeperOptions {
  readonly link: Link;
  readonly maxAgeMs: number;
  readonly log: Logger;
  readonly onRefreshed: () => void;
  readonly onError: (error: unknown) => void;
}

/** Knows who leads a partition, and looks again when told that it was wrong, or after `maxAgeMs`. */
export interface MetadataKeeper {
  leaderOf(topic: string, partition: number): number | undefined;
  /** How many partitions a topic has; undefined while it is not known: it is asked for then, and `onRefreshed` called afterwards. */
  countOf(topic: string): number | undefined;
  /** What is known may be wrong: refreshed at the next `refreshIfDue`, though never more than ten times a second. */
  expire(): void;
  refreshIfDue(): void;
  stop(): void;
}

const MIN_INTERVAL_MS = 100;

export function createMetadataKeeper(options: MetadataKeeperOptions): MetadataKeeper {
  return new Keeper(options);
}

class Keeper implements MetadataKeeper {
  readonly #options: MetadataKeeperOptions;
  readonly #leaders = new WeakMap<PartitionMetadata[], Map<number, number>>();
  /** Topics whose partitions are not known yet. */
  readonly #wanted = new Set<string>();
  #expired = false;
  #refreshing = false;
  #failures = 0;
  #dueAt = performance.now() + MIN_INTERVAL_MS;
  #refreshedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: MetadataKeeperOptions) {
    this.#options = options;
  }

  leaderOf(topic: string, partition: number): number | undefined {
    const leader = this.#leadersOf(topic)?.get(partition);
    return leader === undefined || leader < 0 ? undefined : leader;
  }

  #leadersOf(topic: string): Map<number, number> | undefined {
    const known = this.#partitionsOf(topic);
    if (known === undefined) return undefined;
    let leaders = this.#leaders.get(known);
    if (leaders === undefined) {
      leaders = new Map(known.map(({ partitionId, leader }) => [partitionId, leader]));
      this.#leaders.set(known, leaders);
    }
    return leaders;
  }

  #partitionsOf(topic: string): PartitionMetadata[] | undefined {
    try {
      return this.#options.link.cluster.findTopicPartitionMetadata(topic);
    } catch {
      return undefined; // not loaded yet
    }
  }

  countOf(topic: string): number | undefined {
    const count = this.#partitionsOf(topic)?.length ?? 0;
    if (count > 0) return count;
    this.#wanted.add(topic);
    this.expire();
    this.refreshIfDue();
    return undefined;
  }

  expire(): void {
    this.#expired = true;
  }

  refreshIfDue(): void {
    const now = performance.now();
    const old = now - this.#refreshedAt > this.#options.maxAgeMs;
    if (this.#stopped || this.#refreshing || !(this.#expired || old)) return;
    if (now >= this.#dueAt) this.#refresh();
    else this.#later(this.#dueAt - now);
  }

  #later(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.refreshIfDue();
    }, delayMs);
  }

  #refresh(): void {
    this.#refreshing = true;
    this.#expired = false;
    this.#load()
      .then((faults) => {
        this.#refreshed();
        for (const fault of faults) this.#options.onError(fault);
      })
      .catch((error: unknown) => this.#failed(error));
  }

  /** Why a wanted topic is still not known. Each is asked for by itself: kafkajs loads none of several when one is unknown. */
  async #load(): Promise<unknown[]> {
    const { cluster } = this.#options.link;
    const wanted = [...this.#wanted];
    this.#wanted.clear(); // who still needs it asks again
    const added = await Promise.allSettled(wanted.map((topic) => cluster.addMultipleTargetTopics([topic])));
    await cluster.refreshMetadata();
    return added.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  }

  #refreshed(): void {
    this.#refreshing = false;
    this.#failures = 0;
    this.#refreshedAt = performance.now();
    this.#dueAt = this.#refreshedAt + MIN_INTERVAL_MS;
    if (!this.#stopped) this.#options.onRefreshed();
  }

  #failed(error: unknown): void {
    this.#refreshing = false;
    this.#expired = true;
    this.#failures += 1;
    if (this.#stopped) return;
    this.#dueAt = performance.now() + backoffMs(this.#failures);
    this.#options.log('debug', 'kafka: metadata could not be refreshed', { ...faultOf(error) });
    this.#options.onError(error);
    this.refreshIfDue();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
