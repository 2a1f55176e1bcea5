import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { DeliveryTask } from '@webhooks/contracts';
import type { Settlement } from './decide.js';

interface Run {
  readonly deferralCount: number;
  readonly done: Promise<void>;
}

/** An attempt that was made, or ended otherwise: no copy of it means anything any more. */
const ENDED = Number.POSITIVE_INFINITY;

/**
 * Remembers which attempts of waiting deliveries were settled lately, so that a retry record that a crash wrote twice
 * does not double a delivery's future. Copies of one attempt that were deferred differently often converge to
 * one: whichever has been deferred less than what was seen of it is dropped.
 */
export class SettledMemory {
  /** Attempt → how often it had been deferred when it was settled. */
  readonly #settled: LRUCache<string, number>;
  readonly #running = new Map<string, Run>();

  /** Remembers the last `capacity` settlements. */
  constructor(capacity: number) {
    this.#settled = new LRUCache({ max: capacity });
  }

  /**
   * Does `work` unless this attempt was settled lately. A second copy at the same time shares the fate of the first; one
   * that was deferred more often is no copy but its successor, published before the first run has ended: it waits for that.
   */
  async once(task: DeliveryTask, work: () => Promise<Settlement['kind']>): Promise<void> {
    const key = keyOf(task);
    for (let known = this.#running.get(key); known; known = this.#running.get(key)) {
      if (task.deferralCount <= known.deferralCount) return known.done;
      await known.done.catch(() => undefined); // its failure is told to whoever began it
    }
    if (task.deferralCount <= (this.#settled.get(key) ?? -1)) return;
    const done = this.#run(key, task, work);
    this.#running.set(key, { deferralCount: task.deferralCount, done });
    await done;
  }

  async #run(
    key: string,
    { deferralCount }: DeliveryTask,
    work: () => Promise<Settlement['kind']>,
  ): Promise<void> {
    try {
      const kind = await work();
      this.#settled.set(key, kind === 'deferred' ? deferralCount : ENDED);
    } finally {
      this.#running.delete(key);
    }
  }
}

/**
 * The origin tells a copy from the same event accepted once more. A digest, because a text put together of pieces keeps the
 * pieces: 200,000 of them in a heap snapshot.
 */
const keyOf = ({ deliveryId, cycle, attempt, origin }: DeliveryTask): string =>
  hash(
    'sha256',
    `${deliveryId}/${cycle}/${attempt}/${origin.topic}/${origin.partition}/${origin.offset}`,
    'binary',
  );
