import type { Link } from './wire/connect.js';
import { backoffMs } from './wire/backoff.js';

export interface SinkTopicsOptions {
  readonly link: Link;
  readonly onKnown: () => void;
  readonly onError: (error: unknown) => void;
}

/** Learns how many partitions a topic has, before the first record for it can be placed. */
export class SinkTopics {
  readonly #options: SinkTopicsOptions;
  readonly #asking = new Set<string>();
  #stopped = false;

  constructor(options: SinkTopicsOptions) {
    this.#options = options;
  }

  /** Undefined while it is not known: `onKnown` is called when it is. */
  partitionsOf(topic: string): number | undefined {
    const known = this.#known(topic);
    if (known === undefined) this.#ask(topic, 1);
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

  #ask(topic: string, attempt: number): void {
    if (this.#asking.has(topic) || this.#stopped) return;
    this.#asking.add(topic);
    this.#load(topic)
      .then(() => {
        this.#asking.delete(topic);
        this.#options.onKnown();
      })
      .catch((error: unknown) => {
        this.#options.onError(error);
        setTimeout(() => {
          this.#asking.delete(topic);
          this.#ask(topic, attempt + 1);
        }, backoffMs(attempt)).unref();
      });
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
