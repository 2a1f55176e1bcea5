/** Something that must end in time. */
export interface Deadlined {
  readonly deadline: number;
  expire(): void;
}

/**
 * Ends each member at its deadline with one timer for all of them. All members get the same time from when they are
 * added, so the queue is in order of deadlines, and the timer looks at the first only.
 */
export class DeadlineQueue {
  readonly #members = new Set<Deadlined>();
  #timer: NodeJS.Timeout | undefined;

  get size(): number {
    return this.#members.size;
  }

  /** When the first of its members ends at the latest, `performance.now()`; undefined when it has none. */
  get firstDeadline(): number | undefined {
    for (const { deadline } of this.#members) return deadline;
    return undefined;
  }

  add(member: Deadlined): void {
    this.#members.add(member);
    this.#timer ??= this.#arm(member.deadline);
  }

  remove(member: Deadlined): void {
    this.#members.delete(member);
  }

  /** The timer may find that the one it was armed for is long gone: then it is armed for the present first one. */
  #sweep(): void {
    const now = performance.now();
    for (const member of this.#members) {
      if (member.deadline > now) break;
      this.#members.delete(member);
      member.expire();
    }
    const { firstDeadline } = this;
    this.#timer = firstDeadline === undefined ? undefined : this.#arm(firstDeadline);
  }

  /** Not a reason to keep the process alive: the sockets of what is in flight are. */
  #arm(deadline: number): NodeJS.Timeout {
    const waitMs = Math.max(1, Math.ceil(deadline - performance.now()));
    return setTimeout(() => this.#sweep(), waitMs).unref();
  }
}
