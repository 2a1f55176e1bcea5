import type { StartedTestContainer } from 'testcontainers';
import type { EngineLifecycle } from './engine-lifecycle.js';

const STARTUP_TIMEOUT_MS = 180_000;
const STOP_GRACE_SECONDS = 15;

export interface ContainerEngine {
  readonly image: string;
  readonly title: string;
  /** Listened to inside the container and on the host alike, so that it stays the same over a restart. */
  readonly hostPort: number;
  readonly containerPort: number;
  /** Variables for the image; `host` is where the container's ports can be reached. */
  environment(host: string): Record<string, string>;
  /** Resolves with undefined when the engine serves, or with the obstacle. */
  awaitReady(host: string): Promise<string | undefined>;
}

/**
 * Runs an engine in a container (testcontainers removes it when this process ends, however it ends). Its data lives
 * as long as the container: over `kill` and `restart`, not over `stop`.
 */
export async function runContainer(
  engine: ContainerEngine,
): Promise<EngineLifecycle & { readonly host: string }> {
  // Loaded on demand: only ENGINES=containers needs it.
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const client = await getContainerRuntimeClient().catch((cause: unknown) => {
    throw new Error(
      'ENGINES=containers needs a running Docker (or compatible) daemon, and none answered. ' +
        'Start it (sudo systemctl start docker), or unset ENGINES to use the embedded engines.',
      { cause },
    );
  });
  const started: StartedTestContainer = await new GenericContainer(engine.image)
    .withEnvironment(engine.environment(client.info.containerRuntime.host))
    .withExposedPorts({ container: engine.containerPort, host: engine.hostPort })
    .withStartupTimeout(STARTUP_TIMEOUT_MS)
    .start();
  const host = started.getHost();
  const handle = client.container.getById(started.getId());
  let killing: Promise<unknown> = Promise.resolve();
  const expectReady = async () => {
    const obstacle = await engine.awaitReady(host);
    if (obstacle !== undefined)
      throw new Error(`${engine.title} in ${engine.image} did not start: ${obstacle}`);
  };
  const lifecycle = {
    host,
    pid: undefined,
    stop: async () => {
      await started.stop({ timeout: STOP_GRACE_SECONDS * 1_000 });
    },
    kill: () => {
      killing = handle.kill({ signal: 'SIGKILL' }).catch(() => undefined);
    },
    restart: async () => {
      await killing;
      await handle.restart({ t: STOP_GRACE_SECONDS });
      await expectReady();
    },
  };
  await expectReady().catch(async (error: unknown) => {
    await lifecycle.stop();
    throw error;
  });
  return lifecycle;
}
