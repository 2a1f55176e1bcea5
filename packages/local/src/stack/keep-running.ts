import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../engine/command.js';
import type { KafkaEngine } from '../kafka/start-kafka.js';
import type { MongoEngine } from '../mongo/start-mongo.js';
import { startServiceProcess } from './service-process.js';
import type { ServiceOptions } from './service-process.js';

/** Interval of checks whether a process runs, and the first pause after a failed start. */
const LOOK_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** A line of the log with these words says that a process ended by itself. */
export const ENDED_BY_ITSELF = 'ended by itself';

export interface KeepOptions {
  readonly log: (line: string) => void;
  /** Called after each start of a process, and after each stop by name. */
  readonly onProcessesChanged: () => void;
}

interface Kept {
  readonly name: string;
  /** Why the process ended; undefined while it runs. */
  readonly exitReason: () => string | undefined;
  readonly startAgain: (abandoned: AbortSignal) => Promise<void>;
}

/**
 * Starts a process again whenever it ends by itself, as an orchestrator would do, with growing pauses until it runs. Call the
 * returned function to stop watching.
 */
function keepRunning({ name, exitReason, startAgain }: Kept, { log, onProcessesChanged }: KeepOptions) {
  const abandon = new AbortController();
  const { signal } = abandon;
  let pauseMs = LOOK_MS;
  let endedAt: number | undefined;
  const look = async (): Promise<void> => {
    const reason = exitReason();
    if (reason === undefined) return;
    if (endedAt === undefined) log(`${name} ${ENDED_BY_ITSELF} (${reason}); it is started again`);
    endedAt ??= performance.now();
    try {
      await startAgain(signal);
    } catch (error) {
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      if (!signal.aborted) log(`${name} could not be started again: ${errorText(error)}`);
      return;
    }
    log(`${name} is up again after ${((performance.now() - endedAt) / 1_000).toFixed(1)} s`);
    [pauseMs, endedAt] = [LOOK_MS, undefined];
    onProcessesChanged();
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await look();
    }
  };
  const watching = watch();
  return (): Promise<void> => {
    abandon.abort();
    return watching;
  };
}

/** Starts an embedded engine again, on its data, when its process has ended. Returns how to stop watching. */
export function keepEngineRunning(
  name: string,
  engine: KafkaEngine | MongoEngine,
  options: KeepOptions,
): () => Promise<void> {
  if (!engine.isEmbedded) return () => Promise.resolve();
  const exitReason = () => (engine.pid === undefined ? 'its process is not there' : undefined);
  return keepRunning({ name, exitReason, startAgain: () => engine.restart() }, options);
}

/** Starts a service, and starts it again whenever it ends by itself. */
export async function keepServiceRunning(options: ServiceOptions, keep: KeepOptions) {
  let current = await startServiceProcess(options);
  const startAgain = async (abandoned: AbortSignal): Promise<void> => {
    current = await startServiceProcess({ ...options, abandoned });
  };
  const unwatch = keepRunning(
    { name: options.name, exitReason: () => current.exitReason(), startAgain },
    keep,
  );
  return {
    name: options.name,
    adminPort: options.adminPort,
    /** Undefined while no process runs. */
    get pid() {
      return current.exitReason() === undefined ? current.pid : undefined;
    },
    stop: async () => {
      const unwatched = unwatch();
      await current.stop();
      await unwatched;
      // It may have been started again in the meantime.
      await current.stop();
    },
  };
}
export type KeptService = Awaited<ReturnType<typeof keepServiceRunning>>;
