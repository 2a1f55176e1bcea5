import type { DeliveryTask } from '@webhooks/contracts';

/**
 * Remembers which attempts of waiting deliveries were settled lately, so that a retry record that a crash wrote twice
 * does not double a delivery's future (contract §5). Bounded: the oldest is forgotten first.
 */
export class SettledMemory {
  private readonly settled = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();
  private readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Does `work` unless this attempt was settled lately; a second copy at the same time shares the fate of the first. */
  once(task: DeliveryTask, work: () => Promise<void>): Promise<void> {
    const key = keyOf(task);
    if (this.settled.has(key)) return Promise.resolve();
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
    const [oldest] = this.settled;
    if (this.settled.size >= this.capacity && oldest !== undefined) this.settled.delete(oldest);
    this.settled.add(key);
  }
}

// The origin tells a copy from the same event accepted once more; a parked record is the same attempt at a later time.
const keyOf = ({ deliveryId, cycle, attempt, parkedCount, origin }: DeliveryTask): string =>
  `${deliveryId}/${cycle}/${attempt}/${parkedCount}/${origin.topic}/${origin.partition}/${origin.offset}`;
