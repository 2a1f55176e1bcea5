import { runContainer } from '../engine/container.js';
import type { RunningContainer } from '../engine/container.js';
import { READY_DEADLINE_MS } from '../engine/wait.js';
import type { Log } from '../engine/wait.js';
import { freePort } from '../engine/free-port.js';
import { awaitMongo } from './mongo-program.js';

const IMAGE = 'mongo:8.0';
const MONGO_PORT = 27_017;

/** Starts MongoDB from the image `mongo`, one server without a replica set; undefined when no container can run (see `runContainer`). */
export async function startMongoContainer(
  log: Log,
): Promise<(RunningContainer & { readonly uri: () => string }) | undefined> {
  const port = await freePort();
  const uriAt = (host: string): string =>
    `mongodb://${host}:${port}/?directConnection=true&retryWrites=false`;
  const container = await runContainer(
    {
      image: IMAGE,
      hostPort: port,
      containerPort: MONGO_PORT,
      environment: () => ({}),
      awaitReady: (host) => awaitMongo(uriAt(host), { deadlineMs: READY_DEADLINE_MS }),
    },
    log,
  );
  if (!container) return undefined;
  log(`MongoDB: a container of ${IMAGE}`);
  return { ...container, uri: () => uriAt(container.host) };
}
