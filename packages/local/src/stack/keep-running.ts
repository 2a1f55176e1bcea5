import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaEngine } from '../kafka/start-kafka.js';
import type { MongoEngine } from '../mongo/start-mongo.js';
import { startServiceProcess } from './service-process.js';
import type { ServiceOptions, ServiceProcess } from './service-process.js';

const LOOK_MS = 250;

/** Starts an embedded engine again when its process has ended. Returns how to stop watching. */
export function keepEngineRunning(
  name: string,
  engine: KafkaEngine | MongoEngine,
  options: { readonly log: (line: string) => void; readonly onRestart: () => void },
): () => Promise<void> {
  if (engine.kind !== 'embedded') return () => Promise.resolve();
  let restarting: Promise<void> | undefined;
  const restart = async (): Promise<void> => {
    options.log(`${name} ended; it is started again on its data`);
    const endedAt = performance.now();
    try {
      await engine.restart();
      options.log(`${name} is up again after ${((performance.now() - endedAt) / 1_000).toFixed(1)} s`);
      options.onRestart();
    } catch (error) {
      options.log(
        `${name} could not be started again: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  const timer = setInterval(() => {
    if (engine.pid !== undefined || restarting) return;
    restarting = restart().finally(() => {
      restarting = undefined;
    });
  }, LOOK_MS);
  return async () => {
    clearInterval(timer);
    await restarting;
  };
}

export interface KeepOptions {
  readonly log: (line: string) => void;
  /** Called after each start again, with a new process id. */
  readonly onRestart: () => void;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** Starts the service again, with growing pauses, until it runs or `abandoned` is aborted. */
async function startAgain(
  options: ServiceOptions,
  abandoned: AbortSignal,
  log: KeepOptions['log'],
): Promise<ServiceProcess | undefined> {
  const isWanted = (): boolean => !abandoned.aborted;
  for (let pauseMs = FIRST_PAUSE_MS; isWanted(); pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await delay(pauseMs);
    try {
      return await startServiceProcess({ ...options, abandoned });
    } catch (error) {
      if (isWanted()) log(error instanceof Error ? error.message : String(error));
    }
  }
  return undefined;
}

/** Starts a service, and starts it again whenever it ends by itself, as an orchestrator would do. */
export async function keepServiceRunning(options: ServiceOptions, { log, onRestart }: KeepOptions) {
  let current = await startServiceProcess(options);
  const abandon = new AbortController();

  const watch = async (): Promise<void> => {
    for (let reason = await current.ended; !abandon.signal.aborted; reason = await current.ended) {
      log(`${options.name} ended (${reason}); it is started again`);
      const endedAt = performance.now();
      const again = await startAgain(options, abandon.signal, log);
      if (again === undefined) return;
      current = again;
      log(`${options.name} is up again after ${((performance.now() - endedAt) / 1_000).toFixed(1)} s`);
      onRestart();
    }
  };
  const watching = watch();

  return {
    name: options.name,
    get pid() {
      return current.pid;
    },
    stop: async () => {
      abandon.abort();
      await current.stop();
      await watching;
      // It may have been started again in the meantime.
      await current.stop();
    },
  };
}
export type KeptService = Awaited<ReturnType<typeof keepServiceRunning>>;
