import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { SeriesTable } from './series-table.js';
import type { Labels } from './series-table.js';

/** A line of a counter, to be raised in place. */
export interface CountSeries {
  count: number;
}

export interface SeriesCounterOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly registers: Registry[];
}

/**
 * A prom-client counter for paths that run ten thousand times a second: `inc` checks and hashes its labels each time (65 ns
 * and 150 bytes when measured), a series is looked up once and is a number from then on.
 */
export class SeriesCounter {
  readonly #series = new SeriesTable<CountSeries>(() => ({ count: 0 }));

  constructor({ labelNames = [], ...options }: SeriesCounterOptions) {
    const table = this.#series;
    new Counter({
      ...options,
      labelNames: [...labelNames],
      collect() {
        this.reset();
        for (const [labels, { count }] of table) this.inc({ ...labels }, count);
      },
    });
  }

  /** The line with these labels, the same one each time. */
  of(labels: Labels = {}): CountSeries {
    return this.#series.of(labels);
  }
}
