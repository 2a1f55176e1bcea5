/** Something that must end in time. Links are the queue's own. */
export interface Deadlined {
  readonly deadline: number;
  expire(): void;
  before: Deadlined | undefined;
  after: Deadlined | undefined;
}

/**
 * Ends each member at its deadline with one timer for all of them. All members get the same time from when they are
 * added, so the queue is in order of deadlines: adding and removing cost a few pointers, and the timer looks at the head only.
 */
export class DeadlineQueue {
  #head: Deadlined | undefined;
  #tail: Deadlined | undefined;
  #timer: NodeJS.Timeout | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** When the first of its members ends at the latest, `performance.now()`; undefined when it has none. */
  get firstDeadline(): number | undefined {
    return this.#head?.deadline;
  }

  add(member: Deadlined): void {
    member.before = this.#tail;
    if (this.#tail === undefined) this.#head = member;
    else this.#tail.after = member;
    this.#tail = member;
    this.#size += 1;
    this.#timer ??= this.#arm(member.deadline);
  }

  /** Each member is removed exactly once, by whoever ends it. */
  remove(member: Deadlined): void {
    if (member.before === undefined) this.#head = member.after;
    else member.before.after = member.after;
    if (member.after === undefined) this.#tail = member.before;
    else member.after.before = member.before;
    member.before = undefined;
    member.after = undefined;
    this.#size -= 1;
  }

  /** The timer may find that the head it was armed for is long gone: then it is armed for the present one. */
  #sweep(): void {
    const now = performance.now();
    while (this.#head !== undefined && this.#head.deadline <= now) {
      const due = this.#head;
      due.expire();
      if (this.#head === due) this.remove(due);
    }
    this.#timer = this.#head === undefined ? undefined : this.#arm(this.#head.deadline);
  }

  /** Not a reason to keep the process alive: the sockets of what is in flight are. */
  #arm(deadline: number): NodeJS.Timeout {
    const waitMs = Math.max(1, Math.ceil(deadline - performance.now()));
    return setTimeout(() => this.#sweep(), waitMs).unref();
  }
}
