const MIN_BLOCK_BYTES = 16 * 1024;
const MAX_BLOCK_BYTES = 256 * 1024;
const MAX_SPARE_BYTES = 8 * 1024 * 1024;

/**
 * Blocks of memory that are used again. Fetched bytes lie there for some tenths of a second under load: long enough for
 * V8 to move their buffers to the old generation, where each would stay until the next full collection and hasten it.
 */
export class BlockPool {
  /** By their size. */
  readonly #spare = new Map<number, Buffer[]>();
  #spareBytes = 0;

  /** What is kept for the next use: at most 8 MiB, further blocks that come back are let go. */
  get spareBytes(): number {
    return this.#spareBytes;
  }

  /**
   * A block for so many bytes, with whatever it held before: the power of two from 16 to 256 KiB that is not smaller.
   * Undefined for more than that, and for 8 KiB and less, which would leave most of a block empty.
   */
  take(bytes: number): Buffer | undefined {
    if (bytes <= MIN_BLOCK_BYTES / 2 || bytes > MAX_BLOCK_BYTES) return undefined;
    const blockBytes = Math.max(MIN_BLOCK_BYTES, 2 ** Math.ceil(Math.log2(bytes)));
    const spare = this.#spare.get(blockBytes)?.pop();
    if (spare === undefined) return Buffer.allocUnsafeSlow(blockBytes);
    this.#spareBytes -= blockBytes;
    return spare;
  }

  /** A block that came from here. Its bytes will be others from now on: nothing may refer to them. */
  giveBack(block: Buffer): void {
    if (this.#spareBytes + block.length > MAX_SPARE_BYTES) return;
    const spare = this.#spare.get(block.length);
    if (spare) spare.push(block);
    else this.#spare.set(block.length, [block]);
    this.#spareBytes += block.length;
  }
}
