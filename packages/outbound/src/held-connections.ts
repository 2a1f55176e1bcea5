import type { Connection } from './connection.js';
import { spareMs } from './spare-time.js';

/** All connections of an origin are looked at for it: not with each attempt. */
const COUNT_EVERY_MS = 20;

type Connections = Iterable<Pick<Connection, 'waitedMs'>> & { readonly size: number };

/**
 * How many of an origin's connections an answer is waited for on that does not come. Endpoints of many tenants may share an
 * origin: what one that hangs holds is nothing that attempts at the others could use. Up to 20 ms old, unless connections have ended.
 */
export class HeldConnections {
  readonly #connections: Connections;
  readonly #heldMs: number;
  #count = 0;
  #countedAt = -Infinity;
  /** How many connections there were. */
  #among = 0;

  /** `heldMs` (`spareMs`): an answer that has not come for so long says that its connection will carry no other attempt soon. */
  constructor(connections: Connections, heldMs: number) {
    this.#connections = connections;
    this.#heldMs = heldMs;
  }

  get count(): number {
    const now = performance.now();
    const { size } = this.#connections;
    // Fewer: those that hung may have ended together.
    if (size >= this.#among && now - this.#countedAt < COUNT_EVERY_MS) return this.#count;
    this.#countedAt = now;
    this.#among = size;
    const spareNow = spareMs();
    this.#count = 0;
    for (const connection of this.#connections)
      if (connection.waitedMs(spareNow) > this.#heldMs) this.#count += 1;
    return this.#count;
  }
}
