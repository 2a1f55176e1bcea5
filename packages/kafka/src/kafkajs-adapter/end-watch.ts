import { performance } from 'node:perf_hooks';
import type { Lane } from '../lane.js';
import type { Link } from './connect.js';
import { listOffsets } from './offsets.js';

export interface EndWatchOptions {
  readonly link: Link;
  readonly lanes: () => readonly Lane[];
  readonly onError: (error: unknown) => void;
}

const INTERVAL_MS = 2_000;

/** A partition that is full is not fetched, so nothing tells how far its end has moved: asked for, so that the lag is true. */
export class EndWatch {
  readonly #options: EndWatchOptions;
  #dueAt = 0;
  #asking = false;

  constructor(options: EndWatchOptions) {
    this.#options = options;
  }

  tick(): void {
    const now = performance.now();
    if (this.#asking || now < this.#dueAt) return;
    const full = this.#options.lanes().filter((lane) => lane.want() === undefined);
    if (full.length === 0) return;
    this.#asking = true;
    this.#dueAt = now + INTERVAL_MS;
    this.#ask(full)
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#asking = false;
      });
  }

  async #ask(lanes: readonly Lane[]): Promise<void> {
    for (const [topic, ofTopic] of Map.groupBy(lanes, (lane) => lane.topic)) {
      const partitions = ofTopic.map(({ partition }) => partition);
      const ends = await listOffsets(this.#options.link, topic, { partitions, earliest: false });
      for (const lane of ofTopic) lane.sawEnd(ends.get(lane.partition) ?? 0);
    }
  }
}
