import { runContainer } from '../container.js';
import { freePort } from '../free-port.js';
import { withDatabase } from './connection-string.js';
import type { MongoEngine } from './mongo-engine.js';
import { awaitMongo, selfTestMongo } from './mongo-ready.js';

const IMAGE = 'mongo:8.0';
const MONGO_PORT = 27_017;
const READY_DEADLINE_MS = 60_000;

/** MongoDB from the image `mongo` (another one with MONGO_IMAGE): one server, no replica set. */
export async function startMongoContainer(preferredPort?: number): Promise<MongoEngine> {
  const port = await freePort(preferredPort);
  const baseUri = (host: string) => `mongodb://${host}:${port}/?directConnection=true&retryWrites=false`;
  const lifecycle = await runContainer({
    image: process.env['MONGO_IMAGE'] ?? IMAGE,
    title: 'MongoDB',
    hostPort: port,
    containerPort: MONGO_PORT,
    environment: () => ({}),
    awaitReady: async (host) =>
      (await awaitMongo(baseUri(host), { deadlineMs: READY_DEADLINE_MS })) ??
      (await selfTestMongo(baseUri(host))),
  });
  const base = baseUri(lifecycle.host);
  return Object.assign(lifecycle, {
    kind: 'container' as const,
    uri: (database?: string) => (database === undefined ? base : withDatabase(base, database)),
  });
}
