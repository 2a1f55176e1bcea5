export type Labels<Name extends string> = Readonly<Record<Name, string>>;

/**
 * The series of one metric by their labels. None is ever forgotten: a label's values must be of a closed set, as prom-client asks
 * as well.
 */
export class SeriesTable<Name extends string, T> {
  readonly #names: readonly Name[];
  readonly #make: () => T;
  readonly #byValues = new Map<string, readonly [Labels<Name>, T]>();

  constructor(names: readonly Name[], make: () => T) {
    this.#names = names;
    this.#make = make;
  }

  /** The series with these labels, the same one each time. */
  of(labels: Labels<Name>): T {
    const key = JSON.stringify(this.#names.map((name) => labels[name]));
    let entry = this.#byValues.get(key);
    if (entry === undefined) {
      entry = [{ ...labels }, this.#make()];
      this.#byValues.set(key, entry);
    }
    return entry[1];
  }

  [Symbol.iterator](): Iterator<readonly [Labels<Name>, T]> {
    return this.#byValues.values();
  }
}
