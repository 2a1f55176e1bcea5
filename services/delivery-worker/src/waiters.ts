const POLL_MS = 20;

/** Calls back when `done` holds, looking every 20 ms: one timer for all who wait. */
export class Waiters {
  private readonly entries = new Set<{
    done: () => boolean;
    resolve: () => void;
    reject: (error: Error) => void;
  }>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  wait(done: () => boolean): Promise<void> {
    if (this.closed) return Promise.reject(new Error('the worker is stopping'));
    return new Promise((resolve, reject) => {
      this.entries.add({ done, resolve, reject });
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
    for (const entry of this.entries) {
      if (!entry.done()) continue;
      this.entries.delete(entry);
      entry.resolve();
    }
    if (this.entries.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
