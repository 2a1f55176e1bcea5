import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@webhooks/http-api';
import type { EndOffsets } from '@webhooks/kafka';
import { shareNext, withDeadline } from '@webhooks/runtime';
import type { Positions } from './positions.js';

interface CatchUpOptions {
  readonly positions: Omit<Positions, 'topic' | 'write'>;
  /** The ends of the topic now. */
  readonly fetchEnds: (deadlineMs: number) => Promise<EndOffsets>;
  /** Called with the fault when a wait fails: the broker or the database did not respond. */
  readonly onFault: (error: unknown) => void;
  /** Default 2,000. */
  readonly waitMs?: number;
}

/**
 * `passed`: everything that was on the topic at the call is projected. `late`: not in time. `full`: too many wait.
 */
export type CatchUpResult = 'passed' | 'late' | 'full';

const MAX_WAITING = 1_000;
/** As the contract says. */
export const WAIT_MS = 2_000;
/** Interval at which positions are read while somebody waits, and are published to other instances. */
export const POLL_MS = 20;

/** A partition that this broker does not know yet counts as within: another instance may project it. */
const isWithin = (offsets: EndOffsets, ends: EndOffsets): boolean =>
  [...offsets].every(([partition, offset]) => offset <= (ends.get(partition) ?? Infinity));

/**
 * Waits until the projection has passed everything that was on the topic when the wait began. Only then a miss means
 * "not there".
 */
export class CatchUp {
  readonly positions: CatchUpOptions['positions'];
  readonly #options: CatchUpOptions;
  #waiting = 0;
  /** The ends that were fetched last; all waits name the same partitions. */
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
    const known = positions.takeOwn();
    const ends = await this.endsFromNow();
    this.#ends = ends;
    // The positions belong to another log when the topic was made anew.
    if (!isWithin(known, ends)) throw new Error('the topic ends before what was read of it');
    positions.takeOwn();
    while (!positions.covers(ends) && performance.now() < endAt) await this.#update();
    if (!positions.covers(ends)) throw new Error('the projection did not get so far in time');
  }

  /** Updates the positions after `POLL_MS`, once for all waits. */
  readonly #update = shareNext(
    () => {
      this.positions.takeOwn();
      // Nobody waits for the database: what this instance has written counts even when it stalls.
      if (this.positions.needsOthers(this.#ends)) this.#readOthers().catch(this.#options.onFault);
      return Promise.resolve();
    },
    () => sleep(POLL_MS),
  );
  readonly #readOthers = shareNext(() => this.positions.readOthers().catch(this.#options.onFault));

  /** Whether the topic reaches these offsets now. */
  async reaches(offsets: EndOffsets): Promise<boolean> {
    return isWithin(offsets, await this.endsFromNow());
  }

  /** The ends, by a request that begins after this call. */
  readonly endsFromNow = shareNext(() => this.#options.fetchEnds(this.#options.waitMs ?? WAIT_MS));
}

interface ReadAfterCatchUp<T> {
  /** Reads by statements that begin when it is called; undefined is a miss. */
  readonly read: () => Promise<T | undefined>;
  /** Waits until everything that is on the topic now is projected. */
  readonly catchUp: () => Promise<CatchUpResult>;
}

const NOT_YET: Readonly<Record<Exclude<CatchUpResult, 'passed'>, string>> = {
  late: 'the newest records are not read yet; try again',
  full: 'too many queries wait for the newest records; try again',
};

/**
 * Reads after everything was projected that was on the topic at the call. Resolves with undefined when nothing is
 * there. Throws 503 with `Retry-After` when the projection was late, so a miss proves nothing.
 */
export async function readAfterCatchUp<T>({ read, catchUp }: ReadAfterCatchUp<T>): Promise<T | undefined> {
  const result = await catchUp();
  const found = await read();
  if (found !== undefined || result === 'passed') return found;
  throw new AppError('unavailable', NOT_YET[result]);
}

/** Reads at once, and waits only after a miss: for what never changes, or is read again anyway. */
export async function readOrCatchUp<T>(wanted: ReadAfterCatchUp<T>): Promise<T | undefined> {
  return (await wanted.read()) ?? readAfterCatchUp(wanted);
}
