import { resolve } from 'node:path';
import { namedAddress } from '../engine/named-address.js';
import { startEmbeddedMongo } from './embedded-mongo.js';
import { useMongoAddress } from './mongo-address.js';
import type { MongoEngine, MongoOptions } from './mongo-engine.js';

/**
 * Makes a MongoDB available: the one named by MONGODB_URI, otherwise `mongod` or SecantusDB as a child process. Says which
 * through `log`. Throws an error that names the ways out.
 */
export async function startMongo(options: MongoOptions): Promise<MongoEngine> {
  const log = options.log ?? (() => undefined);
  const address = namedAddress('MONGODB_URI');
  if (address !== undefined) {
    log('MongoDB: the server named by MONGODB_URI');
    return useMongoAddress(address);
  }
  const mongo = await startEmbeddedMongo({ ...options, log, dataDir: resolve(options.dataDir) });
  log(`MongoDB: embedded ${mongo.title} at ${new URL(mongo.uri()).host}`);
  return mongo;
}
