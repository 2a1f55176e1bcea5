import type { KafkaEngine } from '../kafka/kafka-engine.js';
import type { MongoEngine } from '../mongo/mongo-engine.js';

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
