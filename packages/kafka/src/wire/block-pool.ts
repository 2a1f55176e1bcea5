/** Of a block: for less, a copy of just these bytes takes less memory than the block would waste. */
const MIN_SHARE = 1 / 8;

export interface BlockPoolLimits {
  /** Of each block. */
  readonly blockBytes: number;
  /** Blocks kept for the next use; further ones that come back are let go. */
  readonly maxSpare: number;
}

/**
 * Blocks of memory that are used again. Fetched bytes lie there for some tenths of a second under load: long enough for
 * V8 to move their buffers to the old generation, where each would stay until the next full collection and hasten it.
 */
export class BlockPool {
  readonly #limits: BlockPoolLimits;
  readonly #spare: Buffer[] = [];

  constructor(limits: BlockPoolLimits) {
    this.#limits = limits;
  }

  get spare(): number {
    return this.#spare.length;
  }

  /** A block for so many bytes, with whatever it held before; undefined when they are too few or too many for one. */
  take(bytes: number): Buffer | undefined {
    const { blockBytes } = this.#limits;
    if (bytes < blockBytes * MIN_SHARE || bytes > blockBytes) return undefined;
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** The block's bytes will be others from now on: nothing may refer to them. */
  giveBack(block: Buffer): void {
    if (this.#spare.length < this.#limits.maxSpare) this.#spare.push(block);
  }
}
