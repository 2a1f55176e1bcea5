export { REQUEST_MS, openConnection } from './open-connection.js';
export type { ConnectionOptions } from './open-connection.js';
export { readMongodbSettings } from './mongodb-settings.js';
export type { MongodbSettings } from './mongodb-settings.js';
export { DUPLICATE_KEY, createRunQuery, isDuplicate } from './run-query.js';
export type { RunQuery } from './run-query.js';
