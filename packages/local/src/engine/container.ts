import type { StartedTestContainer } from 'testcontainers';
import { READY_DEADLINE_MS, beforeDeadline } from './wait.js';
import type { Log } from './wait.js';
import { errorText } from './command.js';

export interface ContainerImage {
  readonly image: string;
  /** Port on the host. */
  readonly hostPort: number;
  readonly containerPort: number;
  /** Environment variables of the container. `host`: the host name at which its ports are reachable. */
  environment(host: string): Record<string, string>;
  /** Resolves with undefined when the engine is ready, or with the obstacle. */
  awaitReady(host: string): Promise<string | undefined>;
}

export interface RunningContainer {
  readonly host: string;
  stop(): Promise<void>;
}

/**
 * Runs an engine in a container, which testcontainers removes when this process ends. Returns undefined, and logs why, when no Docker
 * daemon responds, the image cannot be pulled within a minute, or no container can be started. Throws when a started container does not
 * become ready.
 */
export async function runContainer(engine: ContainerImage, log: Log): Promise<RunningContainer | undefined> {
  // Loaded on demand, because it imports a hundred packages.
  const { GenericContainer, ImageName, getContainerRuntimeClient } = await import('testcontainers');
  const name = ImageName.fromString(engine.image);
  let started: StartedTestContainer;
  try {
    const { image, info } = await getContainerRuntimeClient();
    const isPulled = await image.exists(name);
    if (!isPulled) await beforeDeadline(image.pull(name), READY_DEADLINE_MS, `pulling ${engine.image}`);
    started = await new GenericContainer(engine.image)
      .withEnvironment(engine.environment(info.containerRuntime.host))
      .withExposedPorts({ container: engine.containerPort, host: engine.hostPort })
      .start();
  } catch (error) {
    log(`no container of ${engine.image} (${errorText(error)})`);
    return undefined;
  }
  const host = started.getHost();
  const obstacle = await engine.awaitReady(host);
  if (obstacle === undefined) return { host, stop: () => started.stop().then(() => undefined) };
  await started.stop();
  throw new Error(`a container of ${engine.image} did not become ready: ${obstacle}`);
}
