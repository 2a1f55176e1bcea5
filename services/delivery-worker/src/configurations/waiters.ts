const POLL_MS = 20;

interface Entry {
  readonly done: () => boolean;
  /** Monotonic milliseconds. */
  readonly until: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Calls back when `done` holds, looking every 20 ms: one timer for all who wait. */
export class Waiters {
  private readonly entries = new Set<Entry>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  /** Rejects when it does not hold within `withinMs`, or when the worker stops. */
  wait(done: () => boolean, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.closed) return Promise.reject(new Error('the worker is stopping'));
    return new Promise((resolve, reject) => {
      this.entries.add({ done, until: performance.now() + withinMs, resolve, reject });
      this.timer ??= setInterval(() => this.look(), POLL_MS);
    });
  }

  close(): void {
    this.closed = true;
    for (const entry of this.entries) entry.reject(new Error('the worker is stopping'));
    this.entries.clear();
    this.look();
  }

  private look(): void {
    const now = performance.now();
    for (const entry of this.entries) {
      const done = entry.done();
      if (!done && now < entry.until) continue;
      this.entries.delete(entry);
      if (done) entry.resolve();
      else entry.reject(new Error('what was waited for did not come in time'));
    }
    if (this.entries.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
