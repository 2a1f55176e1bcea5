import type { Logger } from './logger.js';
import { errorFields } from './logger.js';

/**
 * Closes a part. `isOrderly`: the process ends after a signal. Otherwise it ends after a fault, when no new work may
 * begin.
 */
export type Close = (isOrderly: boolean) => Promise<void>;

/** Resolves with `work`, or throws after `ms` milliseconds with a message that begins with `what`. */
export function withDeadline<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what} took longer than ${Math.round(ms)} ms`)), ms);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Waits until all promises have settled, then throws the first rejection. So nothing is still running when the work is repeated. */
export async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** The close functions of all opened parts. They are called in reverse order of opening. */
export class Closers {
  private readonly stack: { readonly name: string; readonly close: Close }[] = [];

  add(name: string, close: Close): void {
    this.stack.push({ name, close });
  }

  /**
   * Closes all parts, the last opened first, each within the rest of the deadline. A fault is logged, and closing
   * continues. Returns true when everything closed in time.
   */
  async closeAll(log: Logger, deadlineMs: number, isOrderly = true): Promise<boolean> {
    const end = performance.now() + deadlineMs;
    let clean = true;
    for (let next = this.stack.pop(); next; next = this.stack.pop()) {
      try {
        await withDeadline(
          next.close(isOrderly),
          Math.max(100, end - performance.now()),
          `closing ${next.name}`,
        );
        log.debug('closed', { part: next.name });
      } catch (error) {
        clean = false;
        log.error('closing failed', { part: next.name, ...errorFields(error) });
      }
    }
    return clean;
  }
}
