import type { DeliveryTask } from '@webhooks/contracts';

/**
 * Remembers which attempts of waiting deliveries were settled lately, so that a retry record that a crash wrote twice
 * does not double a delivery's future (contract §5). Bounded: the oldest is forgotten first.
 */
export class SettledMemory {
  private readonly keys = new Set<string>();
  private readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  has(task: DeliveryTask): boolean {
    return this.keys.has(keyOf(task));
  }

  /** To be called after the settlement was acknowledged, never before. */
  add(task: DeliveryTask): void {
    const [oldest] = this.keys;
    if (this.keys.size >= this.capacity && oldest !== undefined) this.keys.delete(oldest);
    this.keys.add(keyOf(task));
  }
}

// A parked record is the same attempt at a later time: it must not be taken for a repeat.
const keyOf = ({ deliveryId, cycle, attempt, parkedCount }: DeliveryTask): string =>
  `${deliveryId}/${cycle}/${attempt}/${parkedCount}`;
