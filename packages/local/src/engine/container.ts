import type { StartedTestContainer } from 'testcontainers';
import { READY_DEADLINE_MS, beforeDeadline } from './wait.js';
import type { Log } from './wait.js';
import { errorText } from './command.js';

export interface ContainerImage {
  readonly image: string;
  /** On the host, and inside the container unless `containerPort` says otherwise. */
  readonly hostPort: number;
  readonly containerPort: number;
  /** Variables for the image; `host` is where the container's ports can be reached. */
  environment(host: string): Record<string, string>;
  /** Resolves with undefined when the engine serves, or with the obstacle. */
  awaitReady(host: string): Promise<string | undefined>;
}

export interface RunningContainer {
  readonly host: string;
  stop(): Promise<void>;
}

/**
 * Runs an engine in a container, which testcontainers removes when this process ends. Undefined, and a line in the log, when no
 * Docker daemon responds, the image is not there within a minute, or a container cannot be started. Throws when a started
 * container does not serve.
 */
export async function runContainer(engine: ContainerImage, log: Log): Promise<RunningContainer | undefined> {
  // Loaded on demand: it brings a hundred packages along.
  const { GenericContainer, ImageName, getContainerRuntimeClient } = await import('testcontainers');
  const name = ImageName.fromString(engine.image);
  let started: StartedTestContainer;
  try {
    const { image, info } = await getContainerRuntimeClient();
    const isHere = await image.exists(name);
    if (!isHere) await beforeDeadline(image.pull(name), READY_DEADLINE_MS, `pulling ${engine.image}`);
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
  throw new Error(`a container of ${engine.image} did not start: ${obstacle}`);
}
