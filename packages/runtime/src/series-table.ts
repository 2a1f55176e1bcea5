export type Labels = Readonly<Record<string, string>>;

/** The lines of one metric by their labels. */
export class SeriesTable<T> {
  readonly #make: () => T;
  readonly #byLabels = new Map<string, readonly [Labels, T]>();

  constructor(make: () => T) {
    this.#make = make;
  }

  of(labels: Labels): T {
    const key = JSON.stringify(Object.entries(labels));
    let entry = this.#byLabels.get(key);
    if (entry === undefined) {
      entry = [{ ...labels }, this.#make()];
      this.#byLabels.set(key, entry);
    }
    return entry[1];
  }

  [Symbol.iterator](): Iterator<readonly [Labels, T]> {
    return this.#byLabels.values();
  }
}
