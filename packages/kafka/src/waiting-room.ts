import { DueHeap } from './due-heap.js';
import type { Task } from './lane.js';

export interface WaitingRoomBounds {
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
}

/** Records whose moment is near: in memory, bounded. */
export class WaitingRoom {
  readonly #bounds: WaitingRoomBounds;
  readonly #heap = new DueHeap<Task>();
  #bytes = 0;

  constructor(bounds: WaitingRoomBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#heap.size;
  }

  get nextDue(): number | undefined {
    return this.#heap.nextDue;
  }

  get hasRoom(): boolean {
    return this.#heap.size < this.#bounds.maxWaiting && this.#bytes < this.#bounds.maxWaitingBytes;
  }

  add(task: Task, due: number): void {
    this.#bytes += task.record.size;
    this.#heap.push(due, task);
  }

  takeDue(now: number): Task | undefined {
    const task = this.#heap.popDue(now);
    if (task !== undefined) this.#bytes -= task.record.size;
    return task;
  }

  /** Takes out what does not pass. */
  keepOnly(passes: (task: Task, due: number) => boolean): Task[] {
    const out = this.#heap.keepOnly(passes);
    for (const { record } of out) this.#bytes -= record.size;
    return out;
  }
}
