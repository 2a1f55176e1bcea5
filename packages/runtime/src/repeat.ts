import { errorFields, type Logger } from './logger.js';
import type { ServiceScope } from './run-service.js';

export interface Repetition {
  readonly name: string;
  readonly everyMs: number;
  /** Throws, or returns a promise that rejects, when it fails. */
  readonly work: (signal: AbortSignal) => unknown;
  readonly log: Logger;
}

/**
 * Calls `work` repeatedly, with a pause of `everyMs` milliseconds between calls. A fault is logged when it begins
 * and when it ends. `stop` resolves when the current call has ended.
 */
export function repeat({ name, everyMs, work, log }: Repetition): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let failing = false;

  const round = async (): Promise<void> => {
    try {
      await work(signal);
      if (failing) log.info(`${name} works again`);
      failing = false;
    } catch (error) {
      if (!failing) log.warn(`${name} failed; retrying`, errorFields(error));
      failing = true;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const loop = async (): Promise<void> => {
    await round();
    if (signal.aborted) return;
    timer = setTimeout(() => void (running = loop()), everyMs);
  };
  let running = loop();
  return {
    stop: () => {
      stopping.abort();
      clearTimeout(timer);
      return running;
    },
  };
}

/** As `repeat`, until the service closes. */
export function repeatUntilClose(
  repetition: Omit<Repetition, 'log'>,
  { log, onClose }: Pick<ServiceScope, 'log' | 'onClose'>,
): void {
  const { stop } = repeat({ ...repetition, log });
  onClose(repetition.name, stop);
}

/**
 * Shares one run of `work` among all calls made before it begins. A call during a run gets the next run, because the
 * current one may miss changes after its start. Without `before`, a call begins at once when nothing runs. With
 * `before`, each run waits for it first.
 */
export function shareNext<T>(work: () => Promise<T>, before?: () => Promise<unknown>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const run = work();
    const over = (): void => {
      if (running === run) running = undefined;
    };
    running = run;
    run.then(over, over);
    return run;
  };
  return () => {
    if (running === undefined && before === undefined) return begin();
    return (next ??= Promise.resolve(running)
      .catch(() => undefined)
      .then(before)
      .then(begin));
  };
}
