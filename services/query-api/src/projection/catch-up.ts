import { withDeadline } from '@webhooks/runtime';
import type { EndOffsets } from '@webhooks/kafka';
import type { Positions } from './positions.js';

export interface CatchUpOptions {
  readonly positions: Pick<Positions, 'passed' | 'needsOthers' | 'readOthers' | 'offsets'>;
  /** The ends of the topic now. */
  readonly fetchEnds: (deadlineMs: number) => Promise<EndOffsets>;
  /** Called with what went wrong while somebody waited: the broker or the database did not answer. */
  readonly onFault: (error: unknown) => void;
  /** Default 2,000. */
  readonly waitMs?: number;
}

/** `passed`: whatever was on the topic when it was asked is projected; `late`: not within the time; `full`: too many wait. */
export type CatchUpResult = 'passed' | 'late' | 'full';

/** Ends that somebody waits for. */
interface Goal {
  readonly reached: PromiseWithResolvers<undefined>;
  readonly waiters: Waiter[];
}

/** One who waits, until its time is over. */
interface Waiter {
  over: boolean;
}

const MAX_WAITING = 1_000;
/** As the contract says. */
export const WAIT_MS = 2_000;
/** How often the position is looked at while somebody waits: once for all who do. */
const LOOK_MS = 5;

/**
 * Waits until the projection has passed everything that was on the topic when the wait began: a miss means
 * "not there" only then. Those who come while a request for the ends is under way share the next one, for the one under
 * way may have been answered before their event was appended.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #goals = new Map<EndOffsets, Goal>();
  #waiting = 0;
  #asking: Promise<EndOffsets> | undefined;
  #askingNext: Promise<EndOffsets> | undefined;
  #looking: NodeJS.Timeout | undefined;
  #reading = false;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async wait(): Promise<CatchUpResult> {
    if (this.#waiting >= MAX_WAITING) return 'full';
    this.#waiting += 1;
    const waitMs = this.#options.waitMs ?? WAIT_MS;
    const waiter = { over: false };
    try {
      await withDeadline(this.#pass(waiter), waitMs, 'the projection');
      return 'passed';
    } catch (error) {
      this.#options.onFault(error);
      return 'late';
    } finally {
      waiter.over = true;
      this.#waiting -= 1;
    }
  }

  async #pass(waiter: Waiter): Promise<void> {
    const ends = await this.endsFromNow();
    if (waiter.over || this.#options.positions.passed(ends)) return;
    const goal = this.#goals.get(ends) ?? { reached: Promise.withResolvers<undefined>(), waiters: [] };
    goal.waiters.push(waiter);
    this.#goals.set(ends, goal);
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS);
    await goal.reached.promise;
  }

  #look(): void {
    const { positions } = this.#options;
    for (const [ends, { reached, waiters }] of this.#goals) {
      const passed = positions.passed(ends);
      if (passed) reached.resolve(undefined);
      if (passed || waiters.every(({ over }) => over)) this.#goals.delete(ends);
    }
    if (this.#goals.size === 0) {
      clearInterval(this.#looking);
      this.#looking = undefined;
    } else if ([...this.#goals.keys()].some((ends) => positions.needsOthers(ends))) this.#readOthers();
  }

  #readOthers(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#options.positions
      .readOthers()
      .catch((error: unknown) => this.#options.onFault(error))
      .finally(() => {
        this.#reading = false;
      });
  }

  /** How far each partition is projected now, by all instances together. */
  projected(): Promise<EndOffsets> {
    return this.#options.positions.offsets();
  }

  /** The ends, by a request that begins after this call. */
  endsFromNow(): Promise<EndOffsets> {
    if (this.#asking === undefined) return this.#ask();
    this.#askingNext ??= this.#asking.catch(() => undefined).then(() => this.#ask());
    return this.#askingNext;
  }

  #ask(): Promise<EndOffsets> {
    this.#askingNext = undefined;
    const asking = this.#options.fetchEnds(this.#options.waitMs ?? WAIT_MS);
    this.#asking = asking;
    const over = (): void => {
      if (this.#asking === asking) this.#asking = undefined;
    };
    asking.then(over, over);
    return asking;
  }
}
