import { setTimeout as sleep } from 'node:timers/promises';
import { shareNext, withDeadline } from '@webhooks/runtime';
import type { EndOffsets } from '@webhooks/kafka';
import type { Positions } from './positions.js';

export interface CatchUpOptions {
  readonly positions: Omit<Positions, 'topic' | 'write'>;
  /** The ends of the topic now. */
  readonly fetchEnds: (deadlineMs: number) => Promise<EndOffsets>;
  /** Called with what went wrong while somebody waited: the broker or the database did not answer. */
  readonly onFault: (error: unknown) => void;
  /** Default 2,000. */
  readonly waitMs?: number;
}

/** `passed`: whatever was on the topic when it was asked is projected; `late`: not within the time; `full`: too many wait. */
export type CatchUpResult = 'passed' | 'late' | 'full';

const MAX_WAITING = 1_000;
/** As the contract says. */
export const WAIT_MS = 2_000;
/** How often the positions are looked at while somebody waits, and told to other instances. */
export const POLL_MS = 20;

/** A partition that this broker does not know yet is within: another instance may project it. */
const isWithin = (offsets: EndOffsets, ends: EndOffsets): boolean =>
  [...offsets].every(([partition, offset]) => offset <= (ends.get(partition) ?? Infinity));

/**
 * Waits until the projection has passed everything that was on the topic when the wait began: a miss means
 * "not there" only then.
 */
export class CatchUp {
  readonly positions: CatchUpOptions['positions'];
  readonly #options: CatchUpOptions;
  #waiting = 0;
  #looking: Promise<void> | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: CatchUpOptions) {
    this.#options = options;
    this.positions = options.positions;
  }

  async wait(): Promise<CatchUpResult> {
    if (this.#waiting >= MAX_WAITING) return 'full';
    this.#waiting += 1;
    const waitMs = this.#options.waitMs ?? WAIT_MS;
    const endAt = performance.now() + waitMs;
    try {
      await withDeadline(this.#pass(endAt), waitMs, 'the projection');
      return 'passed';
    } catch (error) {
      this.#options.onFault(error);
      return 'late';
    } finally {
      this.#waiting -= 1;
    }
  }

  async #pass(endAt: number): Promise<void> {
    const { positions } = this;
    const known = positions.takeOwn();
    const ends = await this.endsFromNow();
    // Of a topic that was made anew, what is known are positions in another log.
    if (!isWithin(known, ends)) throw new Error('the topic ends before what was read of it');
    positions.takeOwn();
    while (!positions.covers(ends) && performance.now() < endAt) await this.#look(ends);
    if (!positions.covers(ends)) throw new Error('the projection did not get so far in time');
  }

  /** Looks at the positions a moment later, once for all who wait: they ask for the same partitions. */
  #look(ends: EndOffsets): Promise<void> {
    this.#looking ??= this.#lookLater(ends).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #lookLater(ends: EndOffsets): Promise<void> {
    const { positions } = this;
    await sleep(POLL_MS);
    positions.takeOwn();
    if (!positions.needsOthers(ends)) return;
    // Not waited for: a silent database must not hide what this instance has written.
    this.#reading ??= positions
      .readOthers()
      .catch(this.#options.onFault)
      .finally(() => (this.#reading = undefined));
  }

  /** Whether the topic reaches as far as these offsets now. */
  async reaches(offsets: EndOffsets): Promise<boolean> {
    return isWithin(offsets, await this.endsFromNow());
  }

  /** The ends, by a request that begins after this call. */
  readonly endsFromNow = shareNext(() => this.#options.fetchEnds(this.#options.waitMs ?? WAIT_MS));
}
