import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@webhooks/http-api';
import type { EndOffsets } from '@webhooks/kafka';
import { shareNext, withDeadline } from '@webhooks/runtime';
import type { Positions } from './positions.js';

interface CatchUpOptions {
  readonly positions: Pick<
    Positions,
    'generation' | 'mergeOwn' | 'covers' | 'offsets' | 'fetchNow' | 'needsOthers' | 'isAhead' | 'readOthers'
  >;
  /** Returns the end offsets of the topic now. */
  readonly fetchEnds: (deadlineMs: number) => Promise<EndOffsets>;
  /** Called with the fault when a wait fails: the projection is late, or the broker or the database did not respond. */
  readonly onFault: (error: unknown) => void;
  /** Longest wait in milliseconds; default 2,000. */
  readonly waitMs?: number;
}

/**
 * `passed`: everything that was on the topic at the call is projected. `late`: it was not projected in time. `full`:
 * 1,000 queries wait already.
 */
export type CatchUpResult = 'passed' | 'late' | 'full';

const MAX_WAITING = 1_000;
/** Frozen by openapi.yaml. */
export const WAIT_MS = 2_000;
/** Interval at which positions are read while a query waits, and the delay after which they are published to other instances. */
export const POLL_MS = 20;

/**
 * Whether a topic with these ends contains these offsets: false when it was truncated or recreated. A partition that this
 * broker does not know yet is ignored: another instance may project it.
 */
export const isWithin = (offsets: EndOffsets, ends: EndOffsets): boolean =>
  [...offsets].every(([partition, offset]) => offset <= (ends.get(partition) ?? Infinity));

/**
 * Waits until the projection has passed everything that was on the topic when the wait began. Only then a miss proves
 * that there is no such document.
 */
export class CatchUp {
  readonly positions: CatchUpOptions['positions'];
  readonly #options: CatchUpOptions;
  #waiting = 0;
  /** The end offsets that were fetched last. All waits concern the same partitions. */
  #ends: EndOffsets = new Map();

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
    const known = positions.mergeOwn();
    const ends = await this.endsFromNow();
    this.#ends = ends;
    // The positions belong to the old topic when it was recreated.
    if (!isWithin(known, ends)) throw new Error('the topic ends before the position already read');
    positions.mergeOwn();
    while (!positions.covers(ends) && performance.now() < endAt) await this.#update();
    if (!positions.covers(ends)) throw new Error('the projection did not reach the end of the topic in time');
  }

  /** Has the topic read at once, and updates the positions after `POLL_MS`, once for all waits. */
  readonly #update = shareNext(
    () => {
      this.positions.mergeOwn();
      // Not awaited: the positions of this instance suffice even when the database is stalled.
      if (this.positions.needsOthers(this.#ends)) this.#readOthers().catch(this.#options.onFault);
      return Promise.resolve();
    },
    () => {
      this.positions.fetchNow();
      return sleep(POLL_MS);
    },
  );
  readonly #readOthers = shareNext(() => this.positions.readOthers().catch(this.#options.onFault));

  /** Returns the end offsets, by a request that begins after this call. */
  readonly endsFromNow = shareNext(() => this.#options.fetchEnds(this.#options.waitMs ?? WAIT_MS));
}

interface ReadAfterCatchUp<T> {
  /** Reads by statements that begin after the call; undefined is a miss. */
  readonly read: () => Promise<T | undefined>;
  /** Waits until everything that is on the topic now is projected. */
  readonly catchUp: () => Promise<CatchUpResult>;
}

const NOT_YET: Readonly<Record<Exclude<CatchUpResult, 'passed'>, string>> = {
  late: 'the newest records are not read yet; try again',
  full: 'too many queries wait for the newest records; try again',
};

/**
 * Waits until everything that was on the topic at the call is projected, and then reads. Resolves with undefined when
 * nothing was found. Throws 503 with `Retry-After` when nothing was found and the projection was late.
 */
export async function readAfterCatchUp<T>({ read, catchUp }: ReadAfterCatchUp<T>): Promise<T | undefined> {
  const result = await catchUp();
  const found = await read();
  if (found !== undefined || result === 'passed') return found;
  throw new AppError('unavailable', NOT_YET[result]);
}

/** Reads at once, and waits only after a miss: for documents that never change, or that callers read repeatedly. */
export async function readOrCatchUp<T>(wanted: ReadAfterCatchUp<T>): Promise<T | undefined> {
  return (await wanted.read()) ?? readAfterCatchUp(wanted);
}
