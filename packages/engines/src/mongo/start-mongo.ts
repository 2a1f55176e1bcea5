import { resolve } from 'node:path';
import { chooseEngine } from '../engine-kind.js';
import { withDatabase } from './connection-string.js';
import { startEmbeddedMongo } from './embedded-mongo.js';
import { startMongoContainer } from './mongo-container.js';
import type { MongoEngine, MongoOptions } from './mongo-engine.js';
import { awaitMongo } from './mongo-ready.js';

const ADDRESS_DEADLINE_MS = 15_000;

/**
 * Makes a MongoDB available: the one named by MONGODB_URI, a container when ENGINES=containers, otherwise `mongod` or
 * SecantusDB as a child process. Says which through `log`. Throws an error that names the ways out.
 */
export async function startMongo(options: MongoOptions): Promise<MongoEngine> {
  const log = options.log ?? (() => undefined);
  const choice = chooseEngine(process.env, 'MONGODB_URI');
  if (choice.kind === 'address') {
    log('MongoDB: the server named by MONGODB_URI');
    return useMongoAddress(choice.address);
  }
  if (choice.kind === 'container') {
    log('MongoDB: a container of mongo (ENGINES=containers)');
    return startMongoContainer(options.port);
  }
  const mongo = await startEmbeddedMongo({ ...options, log, dataDir: resolve(options.dataDir) });
  log(`MongoDB: embedded ${mongo.title} at ${mongo.uri()}`);
  return mongo;
}

async function useMongoAddress(address: string): Promise<MongoEngine> {
  const obstacle = await awaitMongo(address, { deadlineMs: ADDRESS_DEADLINE_MS });
  if (obstacle !== undefined) {
    throw new Error(
      `MONGODB_URI: no answer within ${ADDRESS_DEADLINE_MS / 1_000} s (${obstacle}). ` +
        'Start the server, correct the address, or unset MONGODB_URI to use the embedded database.',
    );
  }
  const notOurs = () => {
    throw new Error('this MongoDB is named by MONGODB_URI: it was not started here, so it is not ended here');
  };
  return {
    kind: 'address',
    uri: (database) => (database === undefined ? address : withDatabase(address, database)),
    pid: undefined,
    stop: () => Promise.resolve(),
    kill: notOurs,
    restart: () => Promise.resolve().then(notOurs),
  };
}
