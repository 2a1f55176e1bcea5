import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { SeriesTable } from './series-table.js';
import type { Labels } from './series-table.js';

/** One labelled value of a counter, to be raised in place. */
export interface CounterSeries {
  count: number;
}

export interface SeriesCounterOptions<Name extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  readonly registers: Registry[];
}

/**
 * A prom-client counter for paths that run ten thousand times a second: `inc` checks and hashes its labels each time (65 ns
 * and 150 bytes when measured), a series is found by a look-up for each label and is a number.
 */
export class SeriesCounter<Name extends string> {
  readonly #series: SeriesTable<Name, CounterSeries>;

  /** Throws when the name is taken. */
  constructor({ labelNames, ...options }: SeriesCounterOptions<Name>) {
    const table = new SeriesTable<Name, CounterSeries>(labelNames, () => ({ count: 0 }));
    this.#series = table;
    new Counter({
      ...options,
      labelNames,
      collect() {
        this.reset();
        for (const [labels, { count }] of table) this.inc({ ...labels }, count);
      },
    });
  }

  /** The series with these labels, the same one each time; read as 0 from then on. */
  of(labels: Labels<Name>): CounterSeries {
    return this.#series.of(labels);
  }
}
