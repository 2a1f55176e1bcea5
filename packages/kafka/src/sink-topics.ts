import type { Link } from './wire/connect.js';
import { backoffMs } from './wire/backoff.js';

export interface SinkTopicsOptions {
  readonly link: Link;
  /** Worth another try to place what waits. */
  readonly onLooked: () => void;
  readonly onError: (error: unknown) => void;
}

/** Learns how many partitions a topic has, before the first record for it can be placed. */
export class SinkTopics {
  readonly #options: SinkTopicsOptions;
  readonly #asking = new Set<string>();
  readonly #failures = new Map<string, number>();
  #stopped = false;

  constructor(options: SinkTopicsOptions) {
    this.#options = options;
  }

  /** Undefined while it is not known: it is asked for then, and `onLooked` called afterwards. */
  partitionsOf(topic: string): number | undefined {
    const known = this.#known(topic);
    if (known === undefined) this.#ask(topic);
    return known;
  }

  #known(topic: string): number | undefined {
    try {
      const { length } = this.#options.link.cluster.findTopicPartitionMetadata(topic);
      return length > 0 ? length : undefined;
    } catch {
      return undefined; // nothing is loaded yet
    }
  }

  #ask(topic: string): void {
    if (this.#asking.has(topic) || this.#stopped) return;
    this.#asking.add(topic);
    this.#load(topic)
      .then(() => {
        this.#failures.delete(topic);
        this.#looked(topic);
      })
      .catch((error: unknown) => {
        const failures = (this.#failures.get(topic) ?? 0) + 1;
        this.#failures.set(topic, failures);
        this.#options.onError(error);
        setTimeout(() => this.#looked(topic), backoffMs(failures)).unref();
      });
  }

  #looked(topic: string): void {
    this.#asking.delete(topic);
    if (!this.#stopped) this.#options.onLooked();
  }

  async #load(topic: string): Promise<void> {
    const { cluster } = this.#options.link;
    await cluster.addMultipleTargetTopics([topic]);
    if (this.#known(topic) === undefined) await cluster.refreshMetadata();
    if (this.#known(topic) === undefined) throw new Error(`no metadata of ${topic}`);
  }

  stop(): void {
    this.#stopped = true;
  }
}
