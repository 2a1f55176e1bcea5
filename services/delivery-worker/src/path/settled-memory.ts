import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { DeliveryTask } from '@webhooks/contracts';

type Attempt = Pick<DeliveryTask, 'deliveryId' | 'cycle' | 'attempt' | 'origin' | 'deferralCount'>;

interface Run {
  readonly deferralCount: number;
  readonly done: Promise<void>;
}

/** Recorded as the deferral count for every settlement but a deferral, so that all later copies are dropped. */
const ENDED = Number.POSITIVE_INFINITY;

/**
 * Remembers which attempts, and slices of fan-outs, were settled recently. A crash can write a retry record twice, and both
 * copies would be processed. A copy is dropped unless it was deferred more often than the settled one.
 */
export class SettledMemory {
  /** Deferral count at settlement, by attempt. */
  readonly #settled: LRUCache<string, number>;
  readonly #running = new Map<string, Run>();

  /** `capacity`: most settlements in memory. */
  constructor(capacity: number) {
    this.#settled = new LRUCache({ max: capacity });
  }

  /**
   * Runs `work` unless this attempt was settled recently. A concurrent copy shares the result of the first run. A
   * run that defers the task publishes the deferred task before it ends. That task has a higher deferral count, and
   * waits here until the run has ended.
   */
  async once(task: Attempt, work: () => Promise<unknown>): Promise<void> {
    const key = keyOf(task);
    for (let known = this.#running.get(key); known; known = this.#running.get(key)) {
      if (task.deferralCount <= known.deferralCount) return known.done;
      await known.done.catch(() => undefined); // its first caller gets the rejection
    }
    if (task.deferralCount <= (this.#settled.get(key) ?? -1)) return;
    const done = this.#run(key, task, work);
    this.#running.set(key, { deferralCount: task.deferralCount, done });
    await done;
  }

  async #run(key: string, { deferralCount }: Attempt, work: () => Promise<unknown>): Promise<void> {
    try {
      const kind = await work();
      this.#settled.set(key, kind === 'deferred' ? deferralCount : ENDED);
    } finally {
      this.#running.delete(key);
    }
  }
}

/**
 * The origin distinguishes a copy from the same event accepted twice. The key is a digest, because a concatenated
 * string keeps its parts in memory (200,000 parts in a heap snapshot).
 */
const keyOf = ({ deliveryId, cycle, attempt, origin }: Attempt): string =>
  hash(
    'sha256',
    `${deliveryId}/${cycle}/${attempt}/${origin.topic}/${origin.partition}/${origin.offset}`,
    'binary',
  );
