interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Virtual milliseconds. What happens in a later one of these spans is kept unordered until then: a million are cheap that way. */
const SPAN_MS = 1_000;

/** What is going to happen, in order of time; of the same moment, in the order it was added. */
export class EventHeap {
  /** A heap: what happens in the span under way, and the beginning of each later one. */
  readonly #events: Event[] = [];
  readonly #later = new Map<number, Event[]>();
  #begun = -1;
  #added = 0;

  push(at: number, run: () => void): void {
    const event = { at, order: (this.#added += 1), run };
    const span = Math.floor(at / SPAN_MS);
    if (span <= this.#begun) return this.#rise(event);
    const known = this.#later.get(span);
    if (known !== undefined) return void known.push(event);
    this.#later.set(span, [event]);
    this.#rise({ at: span * SPAN_MS, order: 0, run: () => this.#begin(span) });
  }

  /** The next one, if it happens not later than `until`. */
  pop(until: number): Event | undefined {
    for (;;) {
      const event = this.#take(until);
      if (event?.order !== 0) return event;
      event.run();
    }
  }

  #begin(span: number): void {
    this.#begun = span;
    for (const event of this.#later.get(span) ?? []) this.#rise(event);
    this.#later.delete(span);
  }

  #rise(event: Event): void {
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

  #take(until: number): Event | undefined {
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
