import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { DeliveryTask } from '@webhooks/contracts';
import type { Settlement } from './decide.js';

interface Run {
  readonly deferralCount: number;
  readonly done: Promise<void>;
}

/** Marks an attempt that was made or ended: every copy of it is dropped. */
const ENDED = Number.POSITIVE_INFINITY;

/**
 * Remembers which attempts were settled lately. A crash can write a retry record twice, and both copies would go on.
 * A copy that was deferred less often than one that was settled is dropped.
 */
export class SettledMemory {
  /** Attempt → its deferral count when it was settled. */
  readonly #settled: LRUCache<string, number>;
  readonly #running = new Map<string, Run>();

  /** `capacity`: settlements that are remembered. */
  constructor(capacity: number) {
    this.#settled = new LRUCache({ max: capacity });
  }

  /**
   * Runs `work` unless this attempt was settled lately. A second copy at the same time shares the result of the
   * first. One that was deferred more often is the successor, published before the first run ended; it waits for
   * that.
   */
  async once(task: DeliveryTask, work: () => Promise<Settlement['kind']>): Promise<void> {
    const key = keyOf(task);
    for (let known = this.#running.get(key); known; known = this.#running.get(key)) {
      if (task.deferralCount <= known.deferralCount) return known.done;
      await known.done.catch(() => undefined); // whoever began it gets the failure
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
 * The origin distinguishes a copy from the same event accepted twice. A digest, because concatenated text keeps its
 * pieces: 200,000 of them in a heap snapshot.
 */
const keyOf = ({ deliveryId, cycle, attempt, origin }: DeliveryTask): string =>
  hash(
    'sha256',
    `${deliveryId}/${cycle}/${attempt}/${origin.topic}/${origin.partition}/${origin.offset}`,
    'binary',
  );
