import type { GuardedProcess } from './guarded-process.js';

export interface EngineLifecycle {
  readonly pid: number | undefined;
  /** Ends the engine in order; nothing when it has ended already. */
  stop(): Promise<void>;
  /** SIGKILL, for fault tests. */
  kill(): void;
  /** Stops the engine if it runs, and starts it again: same port, same data. */
  restart(): Promise<void>;
}

/** Holds one engine process at a time; `launch` starts it and resolves when it serves. */
export async function superviseEngine(launch: () => Promise<GuardedProcess>): Promise<EngineLifecycle> {
  let current = await launch();
  const stop = async () => {
    if (current.exitReason() === undefined) await current.stop();
  };
  return {
    get pid() {
      return current.exitReason() === undefined ? current.pid : undefined;
    },
    stop,
    kill: () => current.kill(),
    async restart() {
      await stop();
      current = await launch();
    },
  };
}
