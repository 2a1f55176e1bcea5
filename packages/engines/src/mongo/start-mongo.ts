import { resolve } from 'node:path';
import { chooseEngine } from '../engine-kind.js';
import { startEmbeddedMongo } from './embedded-mongo.js';
import { useMongoAddress } from './mongo-address.js';
import { startMongoContainer } from './mongo-container.js';
import type { MongoEngine, MongoOptions } from './mongo-engine.js';

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
  log(`MongoDB: embedded ${mongo.title} at ${new URL(mongo.uri()).host}`);
  return mongo;
}
