interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** What is going to happen, in order of time; of the same moment, in the order it was added. */
export class EventHeap {
  readonly #events: Event[] = [];
  #added = 0;

  push(at: number, run: () => void): void {
    const event = { at, order: (this.#added += 1), run };
    let index = this.#events.length;
    this.#events.push(event);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#events[above];
      if (parent === undefined || isBefore(parent, event)) break;
      this.#events[index] = parent;
      index = above;
    }
    this.#events[index] = event;
  }

  /** The next one, if it happens not later than `until`. */
  pop(until: number): Event | undefined {
    const [first] = this.#events;
    if (first === undefined || first.at > until) return undefined;
    const last = this.#events.pop();
    if (last !== undefined && this.#events.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: Event): void {
    let index = 0;
    for (;;) {
      const child = this.#lesserChild(index);
      const below = this.#events[child];
      if (below === undefined || isBefore(event, below)) break;
      this.#events[index] = below;
      index = child;
    }
    this.#events[index] = event;
  }

  #lesserChild(index: number): number {
    const left = 2 * index + 1;
    const [a, b] = [this.#events[left], this.#events[left + 1]];
    return a !== undefined && b !== undefined && isBefore(b, a) ? left + 1 : left;
  }
}
