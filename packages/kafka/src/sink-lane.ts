import { isPending, type PendingRecord } from './pending-record.js';

export interface BatchBounds {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** What waits for one partition, in order. */
export class SinkLane {
  readonly topic: string;
  readonly partition: number;
  #waiting: PendingRecord[] = [];

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  get length(): number {
    return this.#waiting.length;
  }

  push(record: PendingRecord): void {
    this.#waiting.push(record);
  }

  /** Puts a batch that was not written back where it came from. */
  putBack(batch: readonly PendingRecord[]): void {
    this.#waiting = [...batch.filter(isPending), ...this.#waiting];
  }

  dropSettled(): void {
    this.#waiting = this.#waiting.filter(isPending);
  }

  /** The longest batch from the front that keeps the bounds; at least one record, however large. */
  takeBatch(bounds: BatchBounds): PendingRecord[] {
    let bytes = 0;
    let room = bounds.maxRecords;
    let count = 0;
    for (const record of this.#waiting) {
      bytes += record.size;
      room = Math.min(room, record.maxGroup);
      if (count > 0 && (count >= room || bytes > bounds.maxBytes)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count).filter(isPending);
  }
}
