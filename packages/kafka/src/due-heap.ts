interface Entry<T> {
  readonly due: number;
  readonly item: T;
}

/** A binary heap: the earliest first. */
export class DueHeap<T> {
  #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get nextDue(): number | undefined {
    return this.#entries[0]?.due;
  }

  push(due: number, item: T): void {
    this.#entries.push({ due, item });
    this.#rise(this.#entries.length - 1);
  }

  /** The earliest item if it is due. */
  popDue(now: number): T | undefined {
    const [first] = this.#entries;
    if (first === undefined || first.due > now) return undefined;
    const last = this.#entries.pop();
    if (last !== undefined && this.#entries.length > 0) {
      this.#entries[0] = last;
      this.#sink(0);
    }
    return first.item;
  }

  /** Takes out all items that do not pass. */
  keepOnly(passes: (item: T, due: number) => boolean): T[] {
    const out: T[] = [];
    const kept = this.#entries.filter(({ item, due }) => {
      const keep = passes(item, due);
      if (!keep) out.push(item);
      return keep;
    });
    if (out.length > 0) this.#entries = kept.sort((a, b) => a.due - b.due); // sorted is a heap
    return out;
  }

  #dueAt(index: number): number {
    return this.#entries[index]?.due ?? Infinity;
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#entries[a], this.#entries[b]];
    if (first === undefined || second === undefined) return;
    this.#entries[a] = second;
    this.#entries[b] = first;
  }

  #rise(start: number): void {
    for (let index = start; index > 0;) {
      const parent = (index - 1) >> 1;
      if (this.#dueAt(parent) <= this.#dueAt(index)) return;
      this.#swap(parent, index);
      index = parent;
    }
  }

  #sink(start: number): void {
    for (let index = start; ;) {
      const left = 2 * index + 1;
      const least = this.#dueAt(left + 1) < this.#dueAt(left) ? left + 1 : left;
      if (this.#dueAt(least) >= this.#dueAt(index)) return;
      this.#swap(index, least);
      index = least;
    }
  }
}
