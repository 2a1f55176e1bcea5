export type Labels<Name extends string> = Readonly<Record<Name, string>>;

/** By the value of one label: the branch for the next one. At the last, the series. */
interface Branch<T> {
  readonly byValue: Map<string, Branch<T>>;
  series?: T;
}

/**
 * The series of one metric by their labels: a look-up for each label, nothing is made. None is ever forgotten: a label's values
 * must be of a closed set, as prom-client asks as well.
 */
export class SeriesTable<Name extends string, T> {
  readonly #names: readonly Name[];
  readonly #make: () => T;
  readonly #root: Branch<T> = { byValue: new Map() };
  readonly #entries: (readonly [Labels<Name>, T])[] = [];

  constructor(names: readonly Name[], make: () => T) {
    this.#names = names;
    this.#make = make;
  }

  /** The series with these labels, the same one each time. */
  of(labels: Labels<Name>): T {
    let branch = this.#root;
    for (const name of this.#names) branch = branchOf(branch, labels[name]);
    branch.series ??= this.#open(labels);
    return branch.series;
  }

  #open(labels: Labels<Name>): T {
    const series = this.#make();
    this.#entries.push([{ ...labels }, series]);
    return series;
  }

  [Symbol.iterator](): Iterator<readonly [Labels<Name>, T]> {
    return this.#entries.values();
  }
}

function branchOf<T>({ byValue }: Branch<T>, value: string): Branch<T> {
  let branch = byValue.get(value);
  if (branch === undefined) {
    branch = { byValue: new Map() };
    byValue.set(value, branch);
  }
  return branch;
}
