import type { DeliveryTask } from '@webhooks/contracts';

/**
 * Remembers which attempts of waiting deliveries were settled lately, so that a retry record that a crash wrote twice
 * does not double a delivery's future (contract §5). Bounded by two generations: when the younger one is full it becomes the
 * older one, and what was that is forgotten. Deleting the oldest of one Set at each settlement took 41 µs at 100,000
 * entries when measured, because a Set keeps a hole for each entry deleted at its head until it is rebuilt.
 */
export class SettledMemory {
  private younger = new Set<string>();
  private older = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly generation: number;

  /** Remembers at least the last `capacity` settlements, and twice of it at most. */
  constructor(capacity: number) {
    this.generation = capacity;
  }

  /** Does `work` unless this attempt was settled lately; a second copy at the same time shares the fate of the first. */
  once(task: DeliveryTask, work: () => Promise<void>): Promise<void> {
    const key = keyOf(task);
    if (this.younger.has(key) || this.older.has(key)) return Promise.resolve();
    const known = this.running.get(key);
    if (known) return known;
    const run = this.run(key, work);
    this.running.set(key, run);
    return run;
  }

  private async run(key: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.remember(key);
    } finally {
      this.running.delete(key);
    }
  }

  private remember(key: string): void {
    if (this.younger.size >= this.generation) {
      this.older = this.younger;
      this.younger = new Set();
    }
    this.younger.add(key);
  }
}

// The origin tells a copy from the same event accepted once more; a parked record is the same attempt at a later time.
const keyOf = ({ deliveryId, cycle, attempt, parkedCount, origin }: DeliveryTask): string =>
  `${deliveryId}/${cycle}/${attempt}/${parkedCount}/${origin.topic}/${origin.partition}/${origin.offset}`;
