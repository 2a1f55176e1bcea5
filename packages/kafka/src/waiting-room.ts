import TinyQueue from 'tinyqueue';
import type { Task } from './lane.js';

export interface WaitingRoomBounds {
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
}

interface Waiting {
  readonly task: Task;
  readonly due: number;
}

const byDue = (a: Waiting, b: Waiting): number => a.due - b.due;

/** Records whose moment is near: in memory, bounded. */
export class WaitingRoom {
  readonly #bounds: WaitingRoomBounds;
  #queue = new TinyQueue<Waiting>([], byDue);
  #bytes = 0;

  constructor(bounds: WaitingRoomBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#queue.length;
  }

  get nextDue(): number | undefined {
    return this.#queue.peek()?.due;
  }

  get hasRoom(): boolean {
    return this.size < this.#bounds.maxWaiting && this.#bytes < this.#bounds.maxWaitingBytes;
  }

  add(task: Task, due: number): void {
    this.#bytes += task.record.size;
    this.#queue.push({ task, due });
  }

  takeDue(now: number): Task | undefined {
    const first = this.#queue.peek();
    if (first === undefined || first.due > now) return undefined;
    this.#queue.pop();
    this.#bytes -= first.task.record.size;
    return first.task;
  }

  /** Takes out what does not pass. */
  keepOnly(passes: (task: Task, due: number) => boolean): Task[] {
    const { true: kept = [], false: out = [] } = Object.groupBy(this.#queue.data, ({ task, due }) =>
      String(passes(task, due)),
    );
    this.#queue = new TinyQueue(kept, byDue);
    for (const { task } of out) this.#bytes -= task.record.size;
    return out.map(({ task }) => task);
  }
}
