/** Calls back with what it was given in this turn of the event loop, when that has ended: one immediate for all of it. */
export class EndOfTurn<T> {
  readonly #call: (one: T) => void;
  #given: T[] = [];

  /** When `call` throws, those behind have their turn in the next one. */
  constructor(call: (one: T) => void) {
    this.#call = call;
  }

  add(one: T): void {
    this.#given.push(one);
    if (this.#given.length === 1) setImmediate(this.#end);
  }

  readonly #end = (): void => {
    const given = this.#given;
    this.#given = [];
    let called = 0;
    try {
      for (const one of given) {
        called += 1;
        this.#call(one);
      }
    } finally {
      if (called < given.length) for (const one of given.slice(called)) this.add(one);
    }
  };
}
