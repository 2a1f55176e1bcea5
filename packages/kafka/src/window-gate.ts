import type { Window } from './source-types.js';

/** Counts what is in flight against the window. */
export class WindowGate {
  readonly #window: Window;
  #records = 0;
  #bytes = 0;
  #onIdle: (() => void)[] = [];

  constructor(window: Window) {
    this.#window = window;
  }

  get records(): number {
    return this.#records;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Room for one more, whatever its size: a record larger than the window still passes, alone. */
  get hasRoom(): boolean {
    const { maxInFlight, maxInFlightBytes, hasRoom } = this.#window;
    return this.#records < maxInFlight && this.#bytes < maxInFlightBytes && hasRoom?.() !== false;
  }

  enter(bytes: number): void {
    this.#records += 1;
    this.#bytes += bytes;
  }

  leave(bytes: number): void {
    this.#records -= 1;
    this.#bytes -= bytes;
    if (this.#records > 0) return;
    for (const idle of this.#onIdle.splice(0)) idle();
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    return this.#records === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#onIdle.push(resolve);
        });
  }
}
