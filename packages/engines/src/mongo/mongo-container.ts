import type { MongoEngine } from './mongo-engine.js';

/** Filled in below. */
export function startMongoContainer(): Promise<MongoEngine> {
  return Promise.reject(new Error('ENGINES=containers: not there yet'));
}
